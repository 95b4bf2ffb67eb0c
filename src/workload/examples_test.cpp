// Every example in examples/ reads, and says what its comment says.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "trainyard/workload/job.hpp"

namespace trainyard::workload {
namespace {

Result<doc::Node> read(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return doc::parse_any(text.str(), path.string());
}

Result<doc::Node> resolve(const std::string& path) { return read("examples/" + path); }

Job job(const std::string& name) {
    const Result<doc::Node> root = read("examples/jobs/" + name + ".yaml");
    EXPECT_TRUE(root.has_value()) << name;
    Result<Job> j = read_job(*root, resolve);
    EXPECT_TRUE(j.has_value()) << name << (j ? "" : format(j.error().diagnostics));
    return *j;
}

TEST(Examples, ConfigIsThePublishedModel) {
    const Result<doc::Node> root = read("examples/llama-3.1-8b/config.json");
    ASSERT_TRUE(root.has_value());
    EXPECT_EQ(count_parameters(*import_hf_config(*root)).total, 8'030'261'248);
}

TEST(Examples, EveryJobReads) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("examples/jobs")) {
        const Job j = job(entry.path().stem().string());
        EXPECT_FALSE(j.name.empty()) << entry.path();
        const bool work = j.tokens > 0 * kToken || j.samples || j.accelerator_hours_each;
        EXPECT_TRUE(work || j.on_prem) << entry.path();
        ++count;
    }
    EXPECT_EQ(count, 14);
}

TEST(Examples, JobsSayWhatTheirCommentsSay) {
    EXPECT_DOUBLE_EQ(job("bert-tickets").tokens / kToken, 38.4e6);  // 100k * 3 * 128
    EXPECT_EQ(job("lora-8b").lora->rank, 16);
    EXPECT_EQ(job("gpt-300m-16-a100").global_batch_tokens, 250'000);
    EXPECT_EQ(job("pretrain-13b").resume, Resume::elastic);
    EXPECT_EQ(job("continued-70b").spot, SpotPolicy::forbidden);
    EXPECT_TRUE(job("continued-70b").mission_critical);
    EXPECT_DOUBLE_EQ(job("pretrain-405b").tokens / kToken, 15e12);
    EXPECT_EQ(job("many-finetunes-7b").copies, 200);
    EXPECT_DOUBLE_EQ(*job("resnet-50").samples, 115.2e6);
    EXPECT_EQ(job("long-context-8b").sequence, 131'072);
    EXPECT_TRUE(job("trainium-7b").trainium_ok);
    EXPECT_DOUBLE_EQ(job("buy-or-rent").on_prem->kilowatt, 10.2);
}

TEST(Examples, EveryRunReadsAndIsLegal) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("examples")) {
        if (!entry.path().filename().string().starts_with("run-")) continue;
        const Result<doc::Node> root = read(entry.path());
        ASSERT_TRUE(root.has_value()) << entry.path();
        const auto r = read_run(*root, resolve);
        ASSERT_TRUE(r.has_value()) << format(r.error().diagnostics);
        const bool trainium = r->instance.starts_with("trn1.");
        const int per_node = trainium ? 16 : r->instance == "g6e.xlarge" ? 1 : 8;
        const auto whole = complete_run(*r, per_node, trainium ? 2 : 1);
        EXPECT_TRUE(whole.has_value()) << (whole ? "" : format(whole.error().diagnostics));
        ++count;
    }
    EXPECT_GE(count, 6);
}

}  // namespace
}  // namespace trainyard::workload
