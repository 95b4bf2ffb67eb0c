#include "trainyard/doc/csv.hpp"

#include <gtest/gtest.h>

#include "expect.hpp"

namespace trainyard::doc {
namespace {

std::string refused(std::string_view text) { return refusal(parse_csv(text, "x.csv")); }

CsvTable parsed(std::string_view text) {
    Result<CsvTable> table = parse_csv(text, "x.csv");
    EXPECT_TRUE(table.has_value()) << refusal(table);
    return table.value_or(CsvTable());
}

TEST(ParseCsv, ReadsCellsByColumnName) {
    const CsvTable table = parsed("a,b\n1,2\n3,\n");
    EXPECT_EQ(table.size(), 2U);
    EXPECT_EQ(table.cell(0, "a"), "1");
    EXPECT_EQ(table.cell(1, "b"), "");
    EXPECT_EQ(table.cell(1, "absent"), "");
    EXPECT_TRUE(table.has("b"));
    EXPECT_FALSE(table.has("absent"));
    EXPECT_EQ(table.line(1), 3);
    EXPECT_EQ(table.file(), "x.csv");
}

// RFC 4180, section 2, rules 5 to 7.
TEST(ParseCsv, ReadsQuotedCells) {
    const CsvTable table = parsed("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",2\nlast,4\n");
    EXPECT_EQ(table.cell(0, "a"), "x, y");
    EXPECT_EQ(table.cell(0, "b"), "say \"hi\"");
    EXPECT_EQ(table.cell(1, "a"), "two\nlines");
    EXPECT_EQ(table.line(2), 5);  // the quoted cell spans lines 3 and 4
}

TEST(ParseCsv, TakesWindowsLinesCommentsBlankLinesAndAByteOrderMark) {
    const CsvTable table = parsed("\xEF\xBB\xBF# source: x\n#\na,b\r\n1,\"2\"\r\n\r\n3,4");
    EXPECT_EQ(table.header(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(table.cell(0, "b"), "2");
    EXPECT_EQ(table.cell(1, "b"), "4");
    EXPECT_EQ(table.line(0), 4);
    EXPECT_EQ(table.line(1), 6);
}

TEST(ParseCsv, RefusesATableWithoutHeader) {
    EXPECT_EQ(refused(""), "x.csv the table is empty");
    EXPECT_EQ(refused("# only a comment\n\n"), "x.csv the table is empty");
}

TEST(ParseCsv, RefusesDuplicateColumns) {
    EXPECT_EQ(refused("# c\na,b, a\n"), "x.csv:2:1 column \"a\" appears twice");
}

TEST(ParseCsv, NamesEveryRowWithAnotherNumberOfCells) {
    const Result<CsvTable> table = parse_csv("a,b\n1\n1,2\n1,2,3\n", "x.csv");
    EXPECT_EQ(refusal(table), "x.csv:2:1 the row has 1 cells, the header names 2");
    ASSERT_EQ(table.error().diagnostics.size(), 2U);
    EXPECT_EQ(table.error().diagnostics[1].where.line, 4);
}

TEST(ParseCsv, StopsNamingRowsAfterTen) {
    std::string text = "a,b\n";
    for (int i = 0; i < 1000; ++i) {
        text += "1\n";
    }
    EXPECT_EQ(parse_csv(text, "x.csv").error().diagnostics.size(), 10U);
}

TEST(ParseCsv, RefusesBrokenQuotes) {
    EXPECT_EQ(refused("a,b\n1,\"2\n3,4\n"), "x.csv:2:1 a quoted cell has no closing quote");
    EXPECT_EQ(refused("a,b\n\"1\"x,2\n"), "x.csv:2:1 text follows the closing quote of a cell");
}

TEST(ParseCsv, RefusesBytesThatAreNoText) {
    EXPECT_EQ(refused(std::string_view("a,b\n\0,2\n", 8)),
              "x.csv:2:1 the text contains a NUL byte");
    EXPECT_EQ(refused("a,b\n1,\xFF\n"), "x.csv:2:3 byte 0xff is not valid UTF-8");
    EXPECT_EQ(refused(std::string(65U << 20U, 'a')),
              "x.csv the text is 65 MiB long, at most 64 MiB are read");
}

}  // namespace
}  // namespace trainyard::doc
