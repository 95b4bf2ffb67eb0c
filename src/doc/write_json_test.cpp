#include <gtest/gtest.h>

#include <limits>

#include "trainyard/doc/node.hpp"

namespace trainyard::doc {
namespace {

TEST(WriteJson, KeepsOrderAndIndentsByTwo) {
    Node root = Node::map();
    root.set("z", 1).set("a", "x").set("ok", true).set("none", Node());
    Node list = Node::list();
    list.append(Node::integer(1)).append(Node::map());
    root.set("list", std::move(list)).set("empty", Node::list());
    EXPECT_EQ(write_json(root),
              "{\n"
              "  \"z\": 1,\n"
              "  \"a\": \"x\",\n"
              "  \"ok\": true,\n"
              "  \"none\": null,\n"
              "  \"list\": [\n"
              "    1,\n"
              "    {}\n"
              "  ],\n"
              "  \"empty\": []\n"
              "}\n");
}

TEST(WriteJson, SetReplacesAnExistingMember) {
    Node root = Node::map();
    root.set("a", 1).set("b", 2).set("a", 3);
    EXPECT_EQ(write_json(root), "{\n  \"a\": 3,\n  \"b\": 2\n}\n");
}

TEST(WriteJson, NumbersAreTheShortestThatReadBackTheSame) {
    for (const double value : {0.1, 1.0 / 3, 1e300, 5e-324, 123456789.125, -2.5, 9007199254740993.0,
                               1.7976931348623157e308, 8030261248.0}) {
        const std::string text = write_json(Node::number(value));
        EXPECT_EQ(parse_json(text, "x").value().as_number(), value) << text;
    }
    EXPECT_EQ(write_json(Node::number(0.1)), "0.1\n");
    EXPECT_EQ(write_json(Node::number(-0.0)), "0\n");
    EXPECT_EQ(write_json(Node::integer(std::numeric_limits<std::int64_t>::min())),
              "-9223372036854775808\n");
}

TEST(WriteJson, NotFiniteIsNull) {
    EXPECT_EQ(write_json(Node::number(std::numeric_limits<double>::quiet_NaN())), "null\n");
    EXPECT_EQ(write_json(Node::number(-std::numeric_limits<double>::infinity())), "null\n");
}

TEST(WriteJson, EscapesWhatJsonForbids) {
    EXPECT_EQ(write_json(Node::string("a\"b\\c\n\t\r\x01 é")),
              "\"a\\\"b\\\\c\\n\\t\\r\\u0001 é\"\n");
}

TEST(WriteJson, MalformedUtf8BecomesTheReplacementCharacter) {
    EXPECT_EQ(write_json(Node::string("a\xFFz")), "\"a\xEF\xBF\xBDz\"\n");
}

}  // namespace
}  // namespace trainyard::doc
