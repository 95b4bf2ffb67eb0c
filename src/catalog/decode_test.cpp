#include "trainyard/catalog/decode.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard::catalog {
namespace {

const Catalog& catalog() {
    static const Catalog c = *Catalog::load({});
    return c;
}
const Naming& naming() {
    static const Naming n = *Naming::load({});
    return n;
}

DecodedName decoded(const char* name) {
    auto d = decode(name, naming(), catalog());
    EXPECT_TRUE(d.has_value()) << name;
    return d ? *d : DecodedName{};
}

/// "p|4|d|e|24xlarge"
std::string parts(const DecodedName& d) {
    std::string out;
    for (const NamePart& p : d.parts) out += (out.empty() ? "" : "|") + p.text;
    return out;
}

TEST(Decode, splits_every_published_form) {
    struct Case {
        const char* name;
        const char* parts;
        const char* family;
    };
    for (const Case& c : {Case{"p4de.24xlarge", "p|4|d|e|24xlarge", "p4de"},
                          Case{"trn1n.32xlarge", "trn|1|n|32xlarge", "trn1n"},
                          Case{"ml.p5en.48xlarge", "ml|p|5|e|n|48xlarge", "p5en"},
                          Case{"g4dn.xlarge", "g|4|d|n|xlarge", "g4dn"},
                          Case{"u-24tb1.112xlarge", "u|24tb|1|112xlarge", "u-24tb1"},
                          Case{"u7i-12tb.224xlarge", "u|7|i|12tb|224xlarge", "u7i-12tb"},
                          Case{"p6-b200.48xlarge", "p|6|b200|48xlarge", "p6-b200"},
                          Case{"p6e-gb200.36xlarge", "p|6|e|gb200|36xlarge", "p6e-gb200"},
                          Case{"c6i.32xlarge", "c|6|i|32xlarge", "c6i"},
                          Case{"hpc7a.96xlarge", "hpc|7|a|96xlarge", "hpc7a"},
                          Case{"mac2.metal", "mac|2|metal", "mac2"},
                          Case{"mac2-m2pro.metal", "mac|2|m2pro|metal", "mac2-m2pro"},
                          Case{"m7i-flex.large", "m|7|i|flex|large", "m7i-flex"},
                          Case{"x2iedn.metal", "x|2|i|e|d|n|metal", "x2iedn"},
                          Case{"c7i.metal-48xl", "c|7|i|metal-48xl", "c7i"},
                          Case{"r6g.large.search", "search|r|6|g|large", "r6g"},
                          Case{"gr6.4xlarge", "gr|6|4xlarge", "gr6"},
                          Case{"dl2q.24xlarge", "dl|2|q|24xlarge", "dl2q"},
                          Case{"P5.48XLARGE", "p|5|48xlarge", "p5"},
                          Case{"p5", "p|5", "p5"},
                          Case{"P", "p", "p"}}) {
        const DecodedName d = decoded(c.name);
        EXPECT_EQ(parts(d), c.parts) << c.name;
        EXPECT_EQ(d.family, c.family) << c.name;
    }
}

TEST(Decode, every_type_of_the_catalog_decodes_with_nothing_unknown) {
    for (const Instance& i : catalog().instances()) {
        if (i.family == "trn3") continue;  // our own labels: AWS published no name
        const DecodedName d = decoded(i.type.c_str());
        EXPECT_TRUE(d.unknown.empty()) << i.type << ": " << (d.unknown.empty() ? "" : d.unknown[0]);
        ASSERT_TRUE(d.instance.has_value()) << i.type;
        EXPECT_EQ(d.instance->family, d.family) << i.type;
    }
}

TEST(Decode, p_is_not_pascal) {
    const DecodedName d = decoded("p4d.24xlarge");
    ASSERT_EQ(d.folklore.size(), 2u);  // "Pascal" for the line, "dense storage" for p4d
    EXPECT_NE(d.folklore[0].text.find("Pascal"), std::string::npos);
    EXPECT_NE(d.folklore[0].against.find("K80"), std::string::npos);
    EXPECT_NE(d.folklore[0].against.find("V100"), std::string::npos);
    const auto letter = std::find_if(d.parts.begin(), d.parts.end(),
                                     [](const NamePart& p) { return p.text == "d"; });
    ASSERT_NE(letter, d.parts.end());
    EXPECT_EQ(letter->documented, Yes::yes);
    EXPECT_NE(letter->meaning.find("instance store"), std::string::npos);
}

TEST(Decode, the_timeline_of_p_runs_from_p2_to_p6_in_order) {
    const DecodedName d = decoded("p5.48xlarge");
    ASSERT_GE(d.timeline.size(), 9u);
    EXPECT_EQ(d.timeline.front().family, "p2");
    EXPECT_EQ(d.timeline.front().date, "2016-09-29");
    EXPECT_EQ(d.timeline.back().family, "p6-b300");
    for (std::size_t i = 1; i < d.timeline.size(); ++i)
        EXPECT_LE(d.timeline[i - 1].date, d.timeline[i].date);
    EXPECT_EQ(decoded("trn2.48xlarge").timeline.front().date, "2022-10-10");
    EXPECT_TRUE(decoded("c6i.large").timeline.empty());
}

TEST(Decode, neighbours_that_people_mix_up) {
    for (const auto& [name, other] :
         {std::pair{"p4d.24xlarge", "p4de"}, std::pair{"p3.16xlarge", "p3dn"},
          std::pair{"trn1.32xlarge", "trn1n"}, std::pair{"g6.xlarge", "gr6"},
          std::pair{"g4dn.xlarge", "p4d"}}) {
        const DecodedName d = decoded(name);
        EXPECT_TRUE(std::any_of(d.confusable.begin(), d.confusable.end(),
                                [&o = other](const NameRule& r) { return r.scope == o; }))
            << name;
    }
}

// hpc7a.96xlarge has 192 vCPU, one per core (DescribeInstanceTypes), not 4 x 96 = 384.
TEST(Decode, the_size_rule_is_usual_not_promised) {
    const DecodedName d = decoded("hpc7a.96xlarge");
    EXPECT_EQ(d.vcpu_by_rule, 384);
    EXPECT_EQ(d.instance->vcpu, 192);
    EXPECT_NE(d.parts.back().meaning.find("it has 192"), std::string::npos);
}

TEST(Decode, an_unknown_type_gives_what_the_grammar_gives) {
    const DecodedName d = decoded("p7x.48xlarge");
    EXPECT_EQ(parts(d), "p|7|x|48xlarge");
    EXPECT_FALSE(d.instance.has_value());
    EXPECT_EQ(d.unknown.size(), 3u);  // generation 7, letter x, not in the table
    EXPECT_TRUE(d.nearest.has_value());
}

TEST(Decode, garbage_is_refused) {
    for (const char* bad : {"",
                            " ",
                            "hello",
                            "p5.48xlarges",
                            "p5..48xlarge",
                            ".48xlarge",
                            "48xlarge",
                            "5p.48xlarge",
                            "p5.",
                            "a.b.c.d",
                            "p.48xlarge",
                            "p5-.48xlarge",
                            "u-tb1.large",
                            "p555.large",
                            "p5.999999999999xlarge.x",
                            "\xff\xfe",
                            "p5 en.48xlarge",
                            "q.xlarge",
                            "p99999999999-b200.large",
                            "u-9tb99999999999.large"}) {
        const auto d = decode(bad, naming(), catalog());
        ASSERT_FALSE(d.has_value()) << bad;
        EXPECT_EQ(d.error().kind, ErrorKind::bad_input);
        EXPECT_EQ(d.error().diagnostics.size(), 1u);
    }
    EXPECT_FALSE(decode(std::string(100000, 'p'), naming(), catalog()).has_value());
}

TEST(Decode, a_slip_is_answered_with_the_nearest_name) {
    const auto d = decode("p5.48xlrge", naming(), catalog());
    ASSERT_FALSE(d.has_value());
    EXPECT_NE(d.error().diagnostics[0].fix.find("p5.48xlarge"), std::string::npos);
}

TEST(NamingTables, a_bad_row_is_refused_with_its_line) {
    const auto bad = Naming::load(
        {{"naming.csv", "kind,key,text,as_of,status,source\nleter,a,AMD,2026,vendor_list,x\n"}});
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error().diagnostics[0].where.line, 2);
}

}  // namespace
}  // namespace trainyard::catalog
