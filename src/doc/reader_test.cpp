#include "trainyard/doc/reader.hpp"

#include <gtest/gtest.h>

#include "expect.hpp"

namespace trainyard::doc {
namespace {

/// Reads one YAML map and collects what is wrong with it.
class MapReaderTest : public testing::Test {
  protected:
    MapReader& read(std::string_view yaml) {
        root_ = parse_yaml(yaml, "x.yaml").value();
        reader_.emplace(root_, mistakes_);
        return *reader_;
    }
    /// "2:8 what | fix" of the only mistake.
    std::string mistake() const {
        if (mistakes_.size() != 1) {
            return std::to_string(mistakes_.size()) + " mistakes\n" + format(mistakes_);
        }
        return place(mistakes_[0].where) + " " + mistakes_[0].what + " | " + mistakes_[0].fix;
    }

    Node root_;
    std::vector<Diagnostic> mistakes_;
    std::optional<MapReader> reader_;
};

TEST_F(MapReaderTest, ReadsEveryKind) {
    MapReader& r = read(
        "layers: 32\neps: 1e-5\ntied: true\nname: llama\ntokens: 300B\ndeadline: 30d\nbudget: "
        "$150k\n"
        "memory: 80 GiB\nmode: full\nexact: 4096.0\nplain: 2048\ncost: 10\nempty:\n");
    EXPECT_EQ(r.integer("layers", {.min = 1, .max = 100}), 32);
    EXPECT_EQ(r.optional_number("eps", {}), 1e-5);
    EXPECT_EQ(r.optional_boolean("tied"), true);
    EXPECT_EQ(r.string("name"), "llama");
    EXPECT_EQ(r.optional_count("tokens"), 300e9);
    EXPECT_EQ(r.optional_count("plain"), 2048.0);
    EXPECT_EQ(r.optional_duration("deadline"), 30 * kDay);
    EXPECT_EQ(r.optional_usd("budget"), 150e3 * kUsd);
    EXPECT_EQ(r.optional_usd("cost"), 10 * kUsd);
    EXPECT_EQ(r.optional_bytes("memory"), 80 * kGiB);
    EXPECT_EQ(r.optional_choice("mode", {"none", "full"}), "full");
    EXPECT_EQ(r.optional_integer("exact", {}), 4096);
    EXPECT_EQ(r.optional_string("empty"), std::nullopt);
    EXPECT_FALSE(r.has("empty"));
    EXPECT_FALSE(r.has("absent"));
    r.finish(UnknownKeys::error);
    EXPECT_TRUE(mistakes_.empty()) << format(mistakes_);
}

TEST_F(MapReaderTest, AbsentIsNoMistakeUnlessRequired) {
    MapReader& r = read("a: 1\n");
    EXPECT_EQ(r.optional_integer("b", {}), std::nullopt);
    EXPECT_EQ(r.optional_usd("b"), std::nullopt);
    EXPECT_TRUE(mistakes_.empty());
    r.integer("layers", {});
    EXPECT_EQ(mistake(), "1:1 layers is missing | add \"layers\"");
}

TEST_F(MapReaderTest, TextWhereANumberBelongs) {
    read("layers: \"32\"\n").integer("layers", {});
    EXPECT_EQ(mistake(), "1:9 layers: \"32\" is not a whole number | remove the quotes");
}

TEST_F(MapReaderTest, FractionWhereAWholeNumberBelongs) {
    read("layers: 32.5\n").integer("layers", {});
    EXPECT_EQ(mistake(), "1:9 layers: \"32.5\" is not a whole number | write a whole number");
}

TEST_F(MapReaderTest, OutOfRange) {
    read("layers: 1000000000000\n").integer("layers", {.min = 1, .max = 10000});
    EXPECT_EQ(mistake(),
              "1:9 layers: 1000000000000 is out of range | write a value between 1 and 10000");
}

TEST_F(MapReaderTest, BeyondSixtyFourBits) {
    read("layers: 1e300\n").integer("layers", {.min = 0});
    EXPECT_EQ(mistake(), "1:9 layers: 1e300 is out of range | write a value of at least 0");
}

TEST_F(MapReaderTest, NegativeNumber) {
    read("eps: -1\n").optional_number("eps", {.min = 0});
    EXPECT_EQ(mistake(), "1:6 eps: -1 is out of range | write a value of at least 0");
}

TEST_F(MapReaderTest, WrongCount) {
    read("a: 1\ntokens: 300Q\n").optional_count("tokens");
    EXPECT_EQ(mistake(), "2:9 tokens: \"300Q\" is not a count | write it like 300B, 1.5T or 2048");
}

TEST_F(MapReaderTest, NegativeBudget) {
    read("budget: -5\n").optional_usd("budget");
    EXPECT_EQ(
        mistake(),
        "1:9 budget: \"-5\" is not an amount of US dollars | write it like 150000, 150k or 1.2M");
}

TEST_F(MapReaderTest, DurationAndSizeNeedAUnit) {
    read("deadline: 30\n").optional_duration("deadline");
    EXPECT_EQ(mistake().substr(0, 37), "1:11 deadline: \"30\" is not a duration");
    mistakes_.clear();
    read("memory: 80\n").optional_bytes("memory");
    EXPECT_EQ(mistake().substr(0, 40), "1:9 memory: \"80\" is not a size in bytes ");
}

TEST_F(MapReaderTest, ListWhereTextBelongs) {
    read("name: [a]\n").string("name");
    EXPECT_EQ(mistake(), "1:7 name: a list is not text | put it in double quotes");
}

TEST_F(MapReaderTest, WordWhereABooleanBelongs) {
    read("tied: yes\n").optional_boolean("tied");
    EXPECT_EQ(mistake(),
              "1:7 tied: \"yes\" is not true or false | write true or false without quotes");
}

TEST_F(MapReaderTest, UnknownChoiceSuggestsTheNearest) {
    read("mode: ful\n").optional_choice("mode", {"none", "selective", "full"});
    EXPECT_EQ(mistake(),
              "1:7 mode: \"ful\" is not a known choice | did you mean \"full\"? one of: none, "
              "selective, full");
}

TEST_F(MapReaderTest, UnknownFieldsAreNamedWithTheNearestKnown) {
    MapReader& r = read("tokns: 1\nzzz: 2\n");
    r.optional_count("tokens");
    r.finish(UnknownKeys::warn);
    ASSERT_EQ(mistakes_.size(), 2U);
    EXPECT_EQ(mistakes_[0].severity, Severity::warning);
    EXPECT_EQ(mistakes_[0].what, "unknown field \"tokns\"");
    EXPECT_EQ(mistakes_[0].fix, "did you mean \"tokens\"?");
    EXPECT_EQ(place(mistakes_[1].where), "2:6");
    EXPECT_EQ(mistakes_[1].fix, "remove it");
}

TEST_F(MapReaderTest, CollectsEveryMistake) {
    MapReader& r = read("layers: x\nheads: -1\n");
    r.integer("layers", {});
    r.integer("heads", {.min = 1});
    r.integer("width", {});
    EXPECT_EQ(mistakes_.size(), 3U);
}

TEST_F(MapReaderTest, ARootThatIsNoMapIsOneMistake) {
    MapReader& r = read("- a\n");
    r.integer("layers", {});
    r.string("name");
    r.finish(UnknownKeys::error);
    EXPECT_EQ(mistake().substr(0, 42), "1:1 expected a map of fields, found a list");
}

}  // namespace
}  // namespace trainyard::doc
