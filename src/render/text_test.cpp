// Quoting: what a user wrote reads back as itself, and never as anything else.

#include "trainyard/render/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "trainyard/doc/node.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

const std::vector<std::string>& hostile() {
    static const std::vector<std::string> all = {"",
                                                 "plain",
                                                 "yes",
                                                 "NO",
                                                 "null",
                                                 "1.5",
                                                 "0x10",
                                                 "1e3",
                                                 "- a",
                                                 "a: b",
                                                 "a #b",
                                                 "#",
                                                 "*x",
                                                 "&x",
                                                 "!x",
                                                 "%x",
                                                 "@x",
                                                 "`id`",
                                                 "$(id)",
                                                 "${HOME}",
                                                 "'",
                                                 "''",
                                                 "\"",
                                                 "\\",
                                                 "a\nb",
                                                 "a\r\nb",
                                                 "tab\there",
                                                 "\x01\x7f",
                                                 "\xc3\xa4\xe2\x80\xa8\xf0\x9f\x98\x80",
                                                 "trailing ",
                                                 " leading",
                                                 "{a: 1}",
                                                 "[1]",
                                                 "|",
                                                 ">",
                                                 "---",
                                                 "~",
                                                 "=",
                                                 "<<",
                                                 "2026-12-01",
                                                 "12:30:45",
                                                 "a';id;'"};
    return all;
}

TEST(RenderText, YamlReadsBack) {
    for (const std::string& s : hostile()) {
        Node root = Node::map();
        root.set("key", s).set(s.empty() ? "empty" : s.front() == '#' ? "k" + s : s, "value");
        const std::string text = write_yaml(root);
        const auto back = doc::parse_yaml(text, "t.yaml");
        ASSERT_TRUE(back.has_value()) << text;
        ASSERT_NE(back->find("key"), nullptr) << text;
        EXPECT_TRUE(back->find("key")->is(Node::Kind::string)) << text;
        EXPECT_EQ(back->find("key")->text(), s) << text;
    }
}

TEST(RenderText, YamlKeepsStructureNumbersAndComments) {
    Node inner = Node::map();
    inner.set("#", "first\nsecond: 1").set("rate", 1e-4).set("on", true).set("none", Node());
    Node list = Node::list();
    list.append(std::move(inner)).append(Node::list()).append(Node::integer(3));
    Node root = Node::map();
    root.set("list", std::move(list)).set("map", Node::map());
    EXPECT_EQ(write_yaml(root),
              "list:\n  - # first?second: 1\n    rate: 1.0e-04\n    \"on\": true\n    none: null\n"
              "  - []\n  - 3\nmap: {}\n");
    const auto back = doc::parse_yaml(write_yaml(root), "t.yaml");
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->find("list")->items().front().find("rate")->as_number(), 1e-4);
}

/// What a real shell makes of the words.
std::string shell_says(const std::string& command) {
    std::string out;
    std::array<char, 256> part{};
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    while (std::size_t n = fread(part.data(), 1, part.size(), pipe.get()))
        out.append(part.data(), n);
    return out;
}

TEST(RenderText, AShellReadsTheWordBack) {
    for (const std::string& s : hostile())
        EXPECT_EQ(shell_says("printf '%s.' " + shell_word(s)), s + ".") << shell_word(s);
    EXPECT_EQ(shell_words({"a", "b c", "s3://x/y"}), "a 'b c' s3://x/y");
}

TEST(RenderText, CommentsAndMarkdownStayOnTheirLine) {
    EXPECT_EQ(comment("#", "a\nb\rc\x1b[0m"), "# a\n# b?c?[0m\n");
    for (const std::string& s : hostile()) {
        const std::string text = markdown_text(s);
        EXPECT_EQ(text.find('\n'), std::string::npos);
        EXPECT_EQ(text.find("<"),
                  text.find("\\<") == std::string::npos ? text.find("<") : text.find("\\<") + 1);
    }
    EXPECT_EQ(markdown_text("a|b<c>`d`"), "a\\|b\\<c\\>\\`d\\`");
    // A right-to-left override could show another command than runs.
    EXPECT_EQ(comment("#",
                      "a\xe2\x80\xae"
                      "b"),
              "# a?b\n");
}

TEST(RenderText, PythonLiteralsAreAscii) {
    EXPECT_EQ(python_string("a\"b\\\n\xc3\xa4\xf0\x9f\x98\x80"),
              "\"a\\\"b\\\\\\n\\xe4\\U0001f600\"");
}

}  // namespace
}  // namespace trainyard::render
