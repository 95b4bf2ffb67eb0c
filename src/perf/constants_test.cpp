#include "trainyard/perf/constants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "embedded.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/perf/predict.hpp"
#include "trainyard/perf/stack.hpp"

namespace trainyard::perf {
namespace {

constexpr std::string_view kHead = "name,architecture,value,unit,status,source,as_of\n";

doc::CsvTable embedded_table(const char* name) {
    return *doc::parse_csv(embedded_files().at(name), name);
}

std::string first_message(const Error& e) { return format(e.diagnostics.front()); }

TEST(Constants, EmbeddedFileParses) {
    const Constants& c = default_constants();
    EXPECT_GT(c.of("Hopper").gemm_fraction, 0);
    EXPECT_EQ(&c.of("an architecture of next year"), &c.of("default"));
}

TEST(Constants, FileAndArchitectureAreRead) {
    const auto c = parse_constants(std::string(kHead) + "straggler,,0.5,ratio,assumed,s,2026\n" +
                                       "gemm_fraction,Hopper,0.25,ratio,assumed,s,2026\n",
                                   "c.csv");
    ASSERT_TRUE(c);
    EXPECT_EQ(c->global.straggler, 0.5);
    EXPECT_EQ(c->of("Hopper").gemm_fraction, 0.25);
}

TEST(Constants, AnArchitectureHasTheDefaultOfWhatItDoesNotGive) {
    const auto c =
        parse_constants(std::string(kHead) + "gemm_fraction,Hopper,0.25,ratio,assumed,s,2026\n" +
                            "k_prologue,default,77,elements,assumed,s,2026\n" +
                            "gemm_fraction,default,0.5,ratio,assumed,s,2026\n",
                        "c.csv");
    ASSERT_TRUE(c);
    EXPECT_EQ(c->of("Hopper").gemm_fraction, 0.25);
    EXPECT_EQ(c->of("Hopper").k_prologue, 77);
    EXPECT_EQ(c->of("Volta").gemm_fraction, 0.5);
}

TEST(Constants, BadRowsAreRefusedWithFileAndLine) {
    for (const char* row :
         {"straggler,,nan,ratio,assumed,s,2026\n", "straggler,,inf,ratio,assumed,s,2026\n",
          "straggler,,-1,ratio,assumed,s,2026\n", "straggler,,,ratio,assumed,s,2026\n",
          "straggler,,fast,ratio,assumed,s,2026\n", "stragler,,1,ratio,assumed,s,2026\n",
          "gemm_fraction,,1,ratio,assumed,s,2026\n", "straggler,Hopper,1,ratio,assumed,s,2026\n"}) {
        const auto c = parse_constants(
            std::string(kHead) + "kernel_gap_us,,2,microsecond,assumed,s,2026\n" + row, "c.csv");
        ASSERT_FALSE(c) << row;
        EXPECT_EQ(c.error().kind, ErrorKind::bad_input);
        EXPECT_EQ(first_message(c.error()).rfind("c.csv:3", 0), 0U) << first_message(c.error());
    }
}

TEST(Constants, EveryBadRowIsReported) {
    const auto c = parse_constants(std::string(kHead) + "a,,1,,,,\nb,,2,,,,\n", "c.csv");
    ASSERT_FALSE(c);
    EXPECT_EQ(c.error().diagnostics.size(), 2U);
}

TEST(Constants, EveryValueHasUnitStatusSourceAndDate) {
    const doc::CsvTable t = embedded_table("constants.csv");
    for (std::size_t i = 0; i < t.size(); ++i) {
        const std::string name(t.cell(i, "name"));
        for (const char* column : {"unit", "status", "source", "as_of"}) {
            EXPECT_FALSE(t.cell(i, column).empty()) << name << " " << column;
        }
        EXPECT_TRUE(catalog::age_in_days(t.cell(i, "as_of"), "2030-01-01")) << name;
        const std::string_view status = t.cell(i, "status");
        EXPECT_TRUE(status == "fitted" || catalog::parse_status(status)) << name << " " << status;
    }
}

TEST(Constants, EveryConstantHasAValueOnce) {
    const doc::CsvTable t = embedded_table("constants.csv");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < t.size(); ++i) {
        const std::string key =
            std::string(t.cell(i, "name")) + "." + std::string(t.cell(i, "architecture"));
        EXPECT_TRUE(seen.insert(key).second) << key << " twice";
    }
    for (const std::string& name : constant_names()) {
        if (name.find('.') != std::string::npos) continue;
        EXPECT_TRUE(seen.count(name + ".")) << name << " relies on the value in the source";
    }
}

TEST(Constants, ArchitecturesAreThoseOfTheCatalog) {
    const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    ASSERT_TRUE(catalog);
    std::set<std::string> known = {"", "default"};
    for (const catalog::Accelerator& a : catalog->accelerators()) known.insert(a.architecture);
    const doc::CsvTable t = embedded_table("constants.csv");
    for (std::size_t i = 0; i < t.size(); ++i) {
        const std::string architecture(t.cell(i, "architecture"));
        EXPECT_TRUE(known.count(architecture)) << architecture << " is no accelerator's";
    }
}

TEST(Constants, FractionsOfAPeakAreFractions) {
    for (const auto& [name, a] : default_constants().architectures) {
        for (const double fraction :
             {a.gemm_fraction, a.gemm_fraction_fp8, a.gemm_fraction_fp4, a.memory_fraction,
              a.flash_forward, a.flash_backward_ratio, a.link_fraction}) {
            EXPECT_GT(fraction, 0) << name;
            EXPECT_LE(fraction, 1) << name;
        }
        // Faster attention kernels still run below the peak.
        EXPECT_LT(a.flash_forward * a.modern_attention_gain, 1) << name;
    }
}

TEST(Stacks, EmbeddedFileParses) {
    EXPECT_GT(stacks().size(), 10U);
    EXPECT_EQ(default_stack().name, "tuned");
    EXPECT_EQ(default_stack().efficiency, 1);
    EXPECT_EQ(find_stack("no such stack"), nullptr);
}

TEST(Stacks, LongestPrefixWins) {
    ASSERT_NE(stack_of_framework("AWS Neuron 2.5.0"), nullptr);
    EXPECT_EQ(stack_of_framework("AWS Neuron 2.5.0")->name, "neuron-2.5");
    EXPECT_EQ(stack_of_framework("AWS Neuron 2.20")->name, "neuron");
    EXPECT_EQ(stack_of_framework("DeepSpeed transformer kernel")->name, "deepspeed-kernels");
    EXPECT_EQ(stack_of_framework("DeepSpeed 0.3")->name, "deepspeed-plain");
    EXPECT_EQ(stack_of_framework("a framework nobody wrote"), nullptr);
}

TEST(Stacks, EveryStackHasSourceAndDateAndItsOwnName) {
    const doc::CsvTable t = embedded_table("stacks.csv");
    std::set<std::string> names;
    for (std::size_t i = 0; i < t.size(); ++i) {
        const std::string name(t.cell(i, "name"));
        EXPECT_TRUE(names.insert(name).second) << name << " twice";
        EXPECT_FALSE(t.cell(i, "source").empty()) << name;
        EXPECT_TRUE(catalog::age_in_days(t.cell(i, "as_of"), "2030-01-01")) << name;
    }
}

std::string stack_with(std::string_view column, std::string_view value) {
    const std::string& csv = embedded_files().at("stacks.csv");
    const doc::CsvTable t = embedded_table("stacks.csv");
    const auto header_at = csv.find("name,");
    const std::string header = csv.substr(header_at, csv.find('\n', header_at) - header_at);
    std::string row;
    std::size_t start = 0;
    while (start <= header.size()) {
        const std::size_t comma = std::min(header.find(',', start), header.size());
        const std::string name = header.substr(start, comma - start);
        const std::string_view cell = name == column ? value : t.cell(0, name);
        row += (row.empty() ? "" : ",") + ("\"" + std::string(cell) + "\"");
        start = comma + 1;
    }
    return header + "\n" + row + "\n";
}

TEST(Stacks, BadRowsAreRefusedWithFileAndLine) {
    EXPECT_TRUE(parse_stacks(stack_with("efficiency", "0.5"), "s.csv"));
    const std::pair<const char*, const char*> bad[] = {
        {"attention", "fast"},     {"fusion", ""},
        {"host", "gpu"},           {"data_overlap", "2"},
        {"gradient_bytes", "two"}, {"efficiency", "0"},
        {"efficiency", "nan"},     {"step_overhead_ms", "-1"}};
    for (const auto& [column, value] : bad) {
        const auto s = parse_stacks(stack_with(column, value), "s.csv");
        ASSERT_FALSE(s) << column << " = " << value;
        const std::string message = first_message(s.error());
        EXPECT_EQ(message.rfind("s.csv:2", 0), 0U) << message;
        EXPECT_NE(message.find(column), std::string::npos) << message;
    }
}

TEST(ErrorBands, PositiveOrderedAndAroundOne) {
    const doc::CsvTable t = embedded_table("error_bands.csv");
    ASSERT_GT(t.size(), 1U);
    for (std::size_t i = 0; i < t.size(); ++i) {
        const auto low = parse_number(t.cell(i, "low")), high = parse_number(t.cell(i, "high"));
        const std::string id(t.cell(i, "accelerator"));
        ASSERT_TRUE(low && high) << id;
        EXPECT_GT(*low, 0) << id;
        EXPECT_LT(*low, 1) << id;
        EXPECT_GT(*high, 1) << id;
        EXPECT_GE(parse_number(t.cell(i, "runs")).value_or(0), 15) << id;
    }
}

TEST(ErrorBands, AnUnmeasuredAcceleratorGetsAWiderBand) {
    const ErrorBand measured = error_band("A100-80");
    EXPECT_NE(measured.basis.find("A100-80"), std::string::npos);
    const ErrorBand pooled = error_band("pooled");
    const ErrorBand unmeasured = error_band("Trn3");
    EXPECT_LT(unmeasured.low, pooled.low);
    EXPECT_GT(unmeasured.high, pooled.high);
    EXPECT_NE(unmeasured.basis.find("no published run on Trn3"), std::string::npos);
}

// Models with experts were predicted worse than dense ones, everyday frameworks worse than tuned:
// a band from dense, tuned runs must not speak for them.
TEST(ErrorBands, ExpertsAndEverydayStacksWidenABand) {
    const ErrorBand dense = error_band("A100-40");
    const ErrorBand experts = error_band("A100-40", {.experts = true});
    EXPECT_LT(experts.low, dense.low);
    EXPECT_GT(experts.high, 1.25);
    EXPECT_NE(experts.basis.find("models with experts"), std::string::npos);
    const ErrorBand everyday = error_band("A100-40", {.everyday = true});
    EXPECT_GT(everyday.high, experts.high);
    EXPECT_NE(everyday.basis.find("everyday frameworks"), std::string::npos);
    // Only wider: the runs of V100-32 spread more than those with experts.
    EXPECT_EQ(error_band("V100-32", {.experts = true}).basis, error_band("V100-32").basis);
    EXPECT_EQ(error_band("A100-40", RunKind{}).basis, dense.basis);
}

TEST(ErrorBands, AStackWithoutFusedKernelsIsEveryday) {
    EXPECT_TRUE(is_everyday(*find_stack("pytorch-fsdp")));
    EXPECT_TRUE(is_everyday(*find_stack("torchtune")));  // its rate is fitted
    EXPECT_FALSE(is_everyday(default_stack()));
    EXPECT_FALSE(is_everyday(*find_stack("neuron")));
}

}  // namespace
}  // namespace trainyard::perf
