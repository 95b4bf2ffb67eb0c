#include <gtest/gtest.h>

#include "expect.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::doc {
namespace {

std::string refused(std::string_view text) { return refusal(parse_json(text, "x.json")); }

Node parsed(std::string_view text) {
    Result<Node> node = parse_json(text, "x.json");
    EXPECT_TRUE(node.has_value()) << refusal(node);
    return node.value_or(Node());
}

TEST(ParseJson, ReadsEveryKind) {
    const Node root =
        parsed(R"({"i": 42, "n": 1e-05, "s": "aé\n", "b": true, "z": null, "l": [1], "m": {}})");
    EXPECT_EQ(root.find("i")->as_integer(), 42);
    EXPECT_EQ(root.find("i")->as_number(), 42.0);
    EXPECT_EQ(root.find("n")->as_number(), 1e-5);
    EXPECT_EQ(root.find("n")->text(), "1e-05");  // as written
    EXPECT_EQ(root.find("s")->text(), "a\xC3\xA9\n");
    EXPECT_TRUE(root.find("b")->as_bool());
    EXPECT_TRUE(root.find("z")->is(Node::Kind::null));
    EXPECT_EQ(root.find("l")->items().size(), 1U);
    EXPECT_TRUE(root.find("m")->is(Node::Kind::map));
    EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(ParseJson, EveryValueKnowsItsPlace) {
    const Node root = parsed(
        "{\n"
        "  \"a\": 1,\n"
        "  \"größe\": [true, \"x\\\"y\" , -2.5e3,\n"
        "\t{\"b\" : null}]\n"
        "}\n");
    EXPECT_EQ(place(root.where), "1:1");
    EXPECT_EQ(root.where.file, "x.json");
    EXPECT_EQ(place(root.find("a")->where), "2:8");
    const std::vector<Node>& items = root.find("größe")->items();
    // Columns count characters: `  "größe": [` puts the bracket in column 12 and its first item
    // in 13.
    EXPECT_EQ(place(root.find("größe")->where), "3:12");
    EXPECT_EQ(place(items[0].where), "3:13");
    EXPECT_EQ(place(items[1].where), "3:19");
    EXPECT_EQ(place(items[2].where), "3:28");
    EXPECT_EQ(place(items[3].where), "4:2");
    EXPECT_EQ(place(items[3].find("b")->where), "4:9");
}

TEST(ParseJson, KeepsTheOrderOfMembers) {
    const Node root = parsed(R"({"z": 1, "a": 2, "m": 3})");
    EXPECT_EQ(root.members()[0].first, "z");
    EXPECT_EQ(root.members()[2].first, "m");
}

TEST(ParseJson, IntegersBeyond64BitsAreNumbers) {
    const Node root = parsed("[9223372036854775807, 9223372036854775808, 1000000000000000000000]");
    EXPECT_EQ(root.items()[0].as_integer(), INT64_MAX);
    EXPECT_TRUE(root.items()[1].is(Node::Kind::number));
    EXPECT_EQ(root.items()[1].as_number(), 9223372036854775808.0);
    EXPECT_EQ(root.items()[2].as_number(), 1e21);
}

TEST(ParseJson, SkipsAByteOrderMarkAndTakesWindowsLines) {
    const Node root = parsed("\xEF\xBB\xBF{\r\n\"a\": 1}\r\n");
    EXPECT_EQ(place(root.find("a")->where), "2:6");
}

TEST(ParseJson, RefusesTruncatedText) {
    EXPECT_EQ(refused(""), "x.json:1:1 the JSON text ends too early");
    EXPECT_EQ(refused("{\"hidden_size\": 40"), "x.json:1:19 the JSON text ends too early");
    EXPECT_EQ(refused("[1, 2,\n"), "x.json:2:1 the JSON text ends too early");
    EXPECT_EQ(refused("{\"a\": \"b"), "x.json:1:9 the JSON text ends too early");
    EXPECT_EQ(refused("[tru"), "x.json:1:5 the JSON text ends too early");
    EXPECT_EQ(refused("[\"\\u00"), "x.json:1:7 the JSON text ends too early");
}

TEST(ParseJson, RefusesTrailingText) {
    EXPECT_EQ(refused("{} x"), "x.json:1:4 not valid JSON at \"x\"");
    EXPECT_EQ(refused("1\n23"), "x.json:2:1 not valid JSON at \"23\"");
}

TEST(ParseJson, RefusesWhatIsNoJson) {
    EXPECT_EQ(refused("[1,]"), "x.json:1:4 not valid JSON at \"]\"");
    EXPECT_EQ(refused("{'a': 1}").substr(0, 10), "x.json:1:2");
    EXPECT_EQ(refused("{\"a\": 1 // c\n}").substr(0, 10), "x.json:1:9");
    EXPECT_NE(refused("[01]"), "accepted");
    EXPECT_NE(refused("[\"\\ud800\"]"), "accepted");  // lone surrogate
}

TEST(ParseJson, RefusesNumbersThatAreNotFinite) {
    const std::string what = "NaN and Infinity are not numbers that can be used here";
    EXPECT_EQ(refused("{\"a\": NaN}"), "x.json:1:7 " + what);
    EXPECT_EQ(refused("[-Infinity]"), "x.json:1:2 " + what);
    EXPECT_EQ(refused("[1,\n  1e999]"), "x.json:2:3 number \"1e999\" is out of range");
}

TEST(ParseJson, RefusesDuplicateKeysAtTheSecond) {
    EXPECT_EQ(refused("{\"a\": 1,\n \"a\": 2}"), "x.json:2:2 key \"a\" appears twice in this map");
    EXPECT_EQ(refused("{\"a\": {\"a\": 1}}"), "accepted");
}

TEST(ParseJson, RefusesDeepNesting) {
    EXPECT_EQ(refused(std::string(64, '[') + std::string(64, ']')), "accepted");
    EXPECT_EQ(refused(std::string(65, '[')), "x.json:1:65 nested deeper than 64 levels");
    EXPECT_EQ(refused(std::string(1'000'000, '[')), "x.json:1:65 nested deeper than 64 levels");
}

TEST(ParseJson, RefusesTooManyValues) {
    std::string text = "[0";
    for (int i = 0; i < 1'000'000; ++i) {
        text += ",0";
    }
    EXPECT_EQ(refused(text + "]"), "x.json:1:2000000 the document has more than 1000000 values");
}

TEST(ParseJson, RefusesTooMuchText) {
    const std::string text(17U << 20U, ' ');
    EXPECT_EQ(refused(text), "x.json the text is 17 MiB long, at most 16 MiB are read");
}

TEST(ParseJson, RefusesBytesThatAreNoText) {
    EXPECT_EQ(refused(std::string_view("{\"a\": \"\0\"}", 10)),
              "x.json:1:8 the text contains a NUL byte");
    EXPECT_EQ(refused("{\n\"a\": \"\xFF\"}"), "x.json:2:7 byte 0xff is not valid UTF-8");
    EXPECT_EQ(refused("{\"a\": \"\\u0000\"}"),
              "x.json:1:7 a string contains an escaped NUL character");
    EXPECT_EQ(refused("{\"\\u0000\": 1}"), "x.json:1:2 a string contains an escaped NUL character");
}

TEST(ParseJson, NeverShowsControlCharactersOrEndlessText) {
    const std::string said = refused("[" + std::string(5000, 'x') + "\x1b[31m]");
    EXPECT_LT(said.size(), 200U);
    EXPECT_EQ(said.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace trainyard::doc
