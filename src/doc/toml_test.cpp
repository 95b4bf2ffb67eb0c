#include <gtest/gtest.h>

#include <string>

#include "expect.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::doc {
namespace {

TEST(Toml, ValuesKnowTheirPlaces) {
    const auto read = parse_toml(
        "[job]\nname = \"a\"\n\n[training]\nsteps = 1_000\nlr = 3e-4\n"
        "compile = true\ntp = [1, 2]\nday = 2026-12-03\n",
        "t.toml");
    ASSERT_TRUE(read);
    const Node* training = read->find("training");
    ASSERT_NE(training, nullptr);
    const Node* steps = training->find("steps");
    ASSERT_NE(steps, nullptr);
    EXPECT_EQ(steps->as_integer(), 1000);
    EXPECT_EQ(steps->where.line, 5);
    EXPECT_EQ(steps->where.column, 9);
    EXPECT_EQ(steps->key_line, 5);
    EXPECT_EQ(steps->key_column, 1);
    EXPECT_DOUBLE_EQ(training->find("lr")->as_number(), 3e-4);
    EXPECT_TRUE(training->find("compile")->as_bool());
    EXPECT_EQ(training->find("tp")->items().size(), 2U);
    EXPECT_EQ(training->find("day")->text(), "2026-12-03");
    EXPECT_EQ(read->find("job")->find("name")->text(), "a");
}

TEST(Toml, MistakesAreRefusedAtTheirPlace) {
    const std::string deep = "a = " + std::string(5000, '[') + std::string(5000, ']');
    for (const std::string& text :
         {std::string("a = \n"), std::string("[x\n"), std::string("a = 1\na = 2\n"),
          std::string("a = \"\xff\"\n"), std::string("a = 1\0b", 7), deep}) {
        const auto read = parse_toml(text, "t.toml");
        ASSERT_FALSE(read) << text.substr(0, 20);
        ASSERT_EQ(read.error().diagnostics.size(), 1U);
        EXPECT_GT(read.error().diagnostics.front().where.line, 0) << text.substr(0, 20);
    }
}

}  // namespace
}  // namespace trainyard::doc
