#include <gtest/gtest.h>

#include "expect.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::doc {
namespace {

std::string refused(std::string_view text) { return refusal(parse_yaml(text, "x.yaml")); }

Node parsed(std::string_view text) {
    Result<Node> node = parse_yaml(text, "x.yaml");
    EXPECT_TRUE(node.has_value()) << refusal(node);
    return node.value_or(Node());
}

TEST(ParseYaml, EveryValueKnowsItsPlace) {
    const Node root = parsed(
        "# a job\n"
        "model: llama-3.1-8b\n"
        "größe: [1, two]\n"
        "cluster:\n"
        "  nodes: 4\n"
        "  note: |\n"
        "    text\n");
    EXPECT_EQ(place(root.where), "2:1");
    EXPECT_EQ(place(root.find("model")->where), "2:8");
    EXPECT_EQ(place(root.find("größe")->items()[0].where), "3:9");
    EXPECT_EQ(place(root.find("größe")->items()[1].where), "3:12");
    EXPECT_EQ(place(root.find("cluster")->find("nodes")->where), "5:10");
    EXPECT_EQ(root.find("cluster")->find("note")->text(), "text\n");
}

// YAML 1.2.2, section 10.3.2 (core schema).
TEST(ParseYaml, ResolvesTheCoreSchema) {
    const Node root = parsed(
        "[null, ~, true, False, 12, -12, +12, 0x1F, 0o17, 017, 1., .5, -1.5e3, 300B, yes, 1_000, "
        "\"12\", !!str 12]");
    const auto kind = [&](std::size_t i) { return root.items()[i].kind(); };
    EXPECT_EQ(kind(0), Node::Kind::null);
    EXPECT_EQ(kind(1), Node::Kind::null);
    EXPECT_TRUE(root.items()[2].as_bool());
    EXPECT_EQ(kind(3), Node::Kind::boolean);
    EXPECT_EQ(root.items()[4].as_integer(), 12);
    EXPECT_EQ(root.items()[5].as_integer(), -12);
    EXPECT_EQ(root.items()[6].as_integer(), 12);
    EXPECT_EQ(root.items()[7].as_integer(), 31);
    EXPECT_EQ(root.items()[8].as_integer(), 15);
    EXPECT_EQ(root.items()[9].as_integer(), 17);  // octal only in YAML 1.1
    EXPECT_EQ(root.items()[10].as_number(), 1.0);
    EXPECT_EQ(root.items()[11].as_number(), 0.5);
    EXPECT_EQ(root.items()[12].as_number(), -1500.0);
    for (std::size_t i = 13; i < 18; ++i) {
        EXPECT_EQ(kind(i), Node::Kind::string) << i;
    }
    EXPECT_EQ(root.items()[7].text(), "0x1F");  // as written
}

TEST(ParseYaml, EmptyTextIsNull) {
    EXPECT_TRUE(parsed("").is(Node::Kind::null));
    EXPECT_TRUE(parsed("# only a comment\n").is(Node::Kind::null));
    EXPECT_TRUE(parsed("a:\n").find("a")->is(Node::Kind::null));
}

TEST(ParseYaml, AliasesAreCopies) {
    const Node root = parsed("a: &x {n: 1}\nb: *x\nc: [*x, *x]\n");
    EXPECT_EQ(root.find("b")->find("n")->as_integer(), 1);
    EXPECT_EQ(root.find("c")->items()[1].find("n")->as_integer(), 1);
}

// Nine levels of nine aliases each would be 9^9 = 387 million values.
TEST(ParseYaml, RefusesABillionLaughs) {
    std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 10; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
        for (int k = 0; k < 8; ++k) {
            text += "," + before;
        }
        text += "]\n";
    }
    EXPECT_NE(refused(text).find("the document has more than 1000000 values"), std::string::npos);
}

// 1 MB of text repeated 2,000 times: few values, 2 GB.
TEST(ParseYaml, RefusesLargeTextRepeated) {
    std::string text = "a: &a \"" + std::string(1'000'000, 'x') + "\"\nb: [*a";
    for (int i = 0; i < 2000; ++i) {
        text += ", *a";
    }
    EXPECT_NE(refused(text + "]\n"), "accepted");
}

TEST(ParseYaml, RefusesBrokenAliases) {
    EXPECT_EQ(refused("a: *b\n").substr(0, 10), "x.yaml:1:4");
    EXPECT_EQ(refused("a: &a [*a]\n"), "x.yaml:1:8 an alias refers to the value that contains it");
}

TEST(ParseYaml, RefusesMoreThanOneDocument) {
    EXPECT_EQ(refused("a: 1\n---\nb: 2\n"), "x.yaml the file holds more than one YAML document");
    EXPECT_EQ(refused("--- \na: 1\n...\n"), "accepted");
}

TEST(ParseYaml, RefusesKeysThatAreNoText) {
    EXPECT_EQ(refused("? [a, b]\n: c\n"), "x.yaml:1:3 a key of a map must be plain text");
    EXPECT_EQ(refused(": 3\n").substr(0, 8), "x.yaml:1");
    EXPECT_EQ(refused("a: 1\na: 2\n"), "x.yaml:2:1 key \"a\" appears twice in this map");
}

TEST(ParseYaml, RefusesNumbersThatAreNotFinite) {
    const std::string what = " NaN and infinity are not numbers that can be used here";
    EXPECT_EQ(refused("a: .nan\n"), "x.yaml:1:4" + what);
    EXPECT_EQ(refused("a: -.INF\n"), "x.yaml:1:4" + what);
    EXPECT_EQ(refused("a: 1e999\n"), "x.yaml:1:4" + what);
    EXPECT_EQ(refused("a: \".inf\"\n"), "accepted");
}

TEST(ParseYaml, RefusesForeignTags) {
    EXPECT_EQ(refused("a: !!python/object:os.system x\n"),
              "x.yaml:1:4 tag \"tag:yaml.org,2002:python/object:os.system\" is not supported");
}

TEST(ParseYaml, RefusesDeepNesting) {
    EXPECT_EQ(refused(std::string(64, '[') + std::string(64, ']')), "accepted");
    EXPECT_EQ(refused(std::string(1000, '[') + std::string(1000, ']')),
              "x.yaml:1:65 nested deeper than 64 levels");
    std::string maps;
    for (int i = 0; i < 2000; ++i) {
        maps += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    }
    EXPECT_EQ(refused(maps), "x.yaml:65:65 nested deeper than 64 levels");
}

TEST(ParseYaml, RefusesWhatIsNoYamlInItsOwnWords) {
    EXPECT_EQ(refused("a: [1, 2\n").substr(0, 24), "x.yaml:2:1 not valid YAM");
    EXPECT_EQ(refused("a: \"b").substr(0, 22), "x.yaml:1:6 not valid Y");
    EXPECT_NE(refused("a:\n\tb: 1\n"), "accepted");
    EXPECT_NE(refused("a: @b\n"), "accepted");
}

TEST(ParseYaml, RefusesTruncatedQuotes) {
    const std::string what = " a quoted text has no closing quote";
    EXPECT_EQ(refused("a: \"b\n"), "x.yaml:1:4" + what);
    EXPECT_EQ(refused("a: 'b\n"), "x.yaml:1:4" + what);
    EXPECT_EQ(refused("a: &x !!str \"b\\\"\n"), "x.yaml:1:4" + what);
    EXPECT_EQ(refused("\"a\": 'it''s'\nb: \"\\\\\"\n"), "accepted");
}

TEST(ParseYaml, RefusesBytesThatAreNoText) {
    EXPECT_EQ(refused(std::string_view("a: \0", 4)), "x.yaml:1:4 the text contains a NUL byte");
    EXPECT_EQ(refused("a: \xFF"), "x.yaml:1:4 byte 0xff is not valid UTF-8");
    EXPECT_EQ(refused("a: \"\\0\"\n"), "x.yaml:1:4 a string contains an escaped NUL character");
    EXPECT_NE(refused(std::string(17U << 20U, ' ')), "accepted");
}

TEST(ParseYaml, TakesWindowsLinesAndAByteOrderMark) {
    const Node root = parsed(
        "\xEF\xBB\xBF"
        "a: x\r\nb:\r\n  - 2\r\n");
    EXPECT_EQ(root.find("a")->text(), "x");
    EXPECT_EQ(root.find("b")->items()[0].as_integer(), 2);
    EXPECT_EQ(place(root.find("b")->items()[0].where), "3:5");
}

// A million values on one line: the place of each must not cost a walk from the start of the line.
TEST(ParseYaml, LongLinesTakeLinearTime) {
    std::string text = "[0";
    for (int i = 0; i < 100'000; ++i) {
        text += ",0";
    }
    const Node root = parsed(text + "]");
    EXPECT_EQ(root.items().size(), 100'001U);
    EXPECT_EQ(place(root.items()[100'000].where), "1:200002");
}

TEST(ParseAny, ChoosesByExtensionThenByTheFirstCharacter) {
    const auto is_json = [](std::string_view text, std::string_view file) {
        // Only JSON refuses a comma before the bracket; only YAML takes bare words.
        return !parse_any(text, file).has_value();
    };
    EXPECT_TRUE(is_json("[1, a]", "config.json"));
    EXPECT_TRUE(is_json("{a: b}", "CONFIG.JSON"));
    EXPECT_TRUE(is_json(" [1, a]", "standard input"));
    EXPECT_FALSE(is_json("[1, a]", "job.yaml"));
    EXPECT_FALSE(is_json("a: b", "job"));
    EXPECT_TRUE(is_json("", "config.json"));  // truncated to nothing
}

}  // namespace
}  // namespace trainyard::doc
