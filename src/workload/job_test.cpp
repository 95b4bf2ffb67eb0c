// job.yaml: what people write, and every mistake with its place.

#include <gtest/gtest.h>

#include "trainyard/workload/job.hpp"

namespace trainyard::workload {
namespace {

Result<Job> job(const std::string& yaml, const ConfigResolver& resolve = {}) {
    const Result<doc::Node> root = doc::parse_yaml(yaml, "job.yaml");
    if (!root) return root.error();
    return read_job(*root, resolve);
}

void expect_one(const std::string& yaml, int line, int column, const std::string& what) {
    const Result<Job> j = job(yaml);
    ASSERT_FALSE(j.has_value()) << yaml;
    EXPECT_EQ(j.error().kind, ErrorKind::bad_input);
    ASSERT_EQ(j.error().diagnostics.size(), 1U) << format(j.error().diagnostics);
    const Diagnostic& d = j.error().diagnostics[0];
    EXPECT_EQ(d.where.file, "job.yaml");
    EXPECT_EQ(d.where.line, line) << format(d);
    EXPECT_EQ(d.where.column, column) << format(d);
    EXPECT_NE(d.what.find(what), std::string::npos) << format(d);
    EXPECT_FALSE(d.fix.empty()) << format(d);
}

constexpr const char* kFull = R"(name: 13B on 300B tokens
model: llama-2-13b
method: pretrain
optimizer: adamw
precision: bf16
tokens: 300B
sequence: 4096
global_batch: 4M tokens
deadline: 30d
budget: $170k
regions: [us-east-1, us-east-2]
spot: yes
resume: elastic
mission_critical: no
trainium: no
outside_aws: no
data: private
)";

TEST(Job, EverythingSaid) {
    const Result<Job> j = job(kFull);
    ASSERT_TRUE(j.has_value()) << format(j.error().diagnostics);
    EXPECT_EQ(j->model.name, "llama-2-13b");
    EXPECT_EQ(j->method, Method::pretrain);
    EXPECT_DOUBLE_EQ(j->tokens / kToken, 300e9);
    EXPECT_EQ(j->sequence, 4096);
    EXPECT_EQ(j->global_batch_tokens, 4e6);
    EXPECT_DOUBLE_EQ(*j->deadline / kDay, 30);
    EXPECT_DOUBLE_EQ(*j->budget / kUsd, 170'000);
    EXPECT_EQ(j->regions, (std::vector<std::string>{"us-east-1", "us-east-2"}));
    EXPECT_EQ(j->resume, Resume::elastic);
    EXPECT_EQ(j->spot, SpotPolicy::allowed);
    EXPECT_EQ(j->precision, catalog::Precision::bf16);
}

TEST(Job, TheLeastThatIsEnough) {
    const Result<Job> j = job("model: llama-3.1-8b\ntokens: 40M\n");
    ASSERT_TRUE(j.has_value());
    EXPECT_FALSE(j->deadline || j->budget || j->precision || j->optimizer ||
                 j->global_batch_tokens);
    EXPECT_EQ(j->sequence, 0);
    EXPECT_EQ(j->copies, 1);
}

TEST(Job, HumanValues) {
    EXPECT_DOUBLE_EQ(job("{model: gpt2, tokens: 1.5T tokens}")->tokens / kToken, 1.5e12);
    EXPECT_DOUBLE_EQ(job("{model: gpt2, tokens: 2500000000}")->tokens / kToken, 2.5e9);
    EXPECT_DOUBLE_EQ(job("{model: gpt2, tokens: 10M, epochs: 3}")->tokens / kToken, 30e6);
    EXPECT_DOUBLE_EQ(*job("{model: gpt2, tokens: 1B, budget: \"$150,000\"}")->budget / kUsd,
                     150'000);
    EXPECT_DOUBLE_EQ(*job("{model: gpt2, tokens: 1B, budget: 150}")->budget / kUsd, 150);
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, seq: 1024, batch: 512}")->global_batch_tokens,
              512 * 1024);
    EXPECT_EQ(
        job("{model: gpt2, tokens: 1B, seq: 1024, batch: 512 sequences}")->global_batch_tokens,
        512 * 1024);
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, dtype: fp16}")->precision, catalog::Precision::fp16);
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, region: eu-west-1}")->regions,
              std::vector<std::string>{"eu-west-1"});
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, spot: forbidden}")->spot, SpotPolicy::forbidden);
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, spot: false}")->spot, SpotPolicy::forbidden);
}

TEST(Job, MethodsWithARank) {
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, method: lora}")->lora->rank, 16);
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, method: lora r8}")->lora->rank, 8);
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, method: qlora, lora_rank: 64}")->lora->rank, 64);
    EXPECT_EQ(job("{model: gpt2, tokens: 1B, method: continued-pretrain}")->method,
              Method::pretrain);
    EXPECT_FALSE(job("{model: gpt2, tokens: 1B, method: full}")->lora.has_value());
    expect_one("{model: gpt2, tokens: 1B, method: full, lora_rank: 8}", 1, 52,
               "lora_rank is given");
    expect_one("{model: gpt2, tokens: 1B, method: rlhf}", 1, 35, "unknown method \"rlhf\"");
}

TEST(Job, FourWaysToGiveAModel) {
    EXPECT_EQ(job("{model: {name: gpt2}, tokens: 1B}")->model.hidden, 768);
    EXPECT_EQ(job("{model: {params: 13B}, tokens: 1B}")->model.hidden, 5120);
    EXPECT_EQ(job("{model: {layers: 2, hidden: 64, heads: 4}, tokens: 1B}")->model.layers, 2);
    const ConfigResolver resolve = [](const std::string& path) -> Result<doc::Node> {
        EXPECT_EQ(path, "models/mine.json");
        return doc::parse_json(
            R"({"model_type": "gpt2", "n_layer": 3, "n_embd": 64, "n_head": 4, "vocab_size": 9})",
            path);
    };
    const Result<Job> j = job("{model: {config: models/mine.json}, tokens: 1B}", resolve);
    ASSERT_TRUE(j.has_value()) << format(j.error().diagnostics);
    EXPECT_EQ(j->model.layers, 3);
    EXPECT_EQ(j->model.name, "models/mine.json");
    expect_one("{model: {config: x.json}, tokens: 1B}", 1, 18, "cannot be read here");
    expect_one("{model: {config: x.json, layers: 3}, tokens: 1B}", 1, 9, "stands alone");
    expect_one("{model: [gpt2], tokens: 1B}", 1, 9, "model");
    expect_one("{model: {params: 13Q}, tokens: 1B}", 1, 18, "13Q");
    expect_one("{model: {params: 3}, tokens: 1B}", 1, 18, "cannot assume");
    expect_one("{model: lama-3.1-8b, tokens: 1B}", 1, 9, "unknown model \"lama-3.1-8b\"");
}

TEST(Job, SamplesOfAnImageModelAndOfATextModel) {
    const Result<Job> images =
        job("{model: resnet50, samples: 1.28M images, epochs: 90, dataset: 150 GB, sample_size: "
            "110 kB}");
    ASSERT_TRUE(images.has_value()) << format(images.error().diagnostics);
    EXPECT_DOUBLE_EQ(*images->samples, 115.2e6);
    EXPECT_EQ(images->tokens, 0 * kToken);
    EXPECT_DOUBLE_EQ(*images->sample_size / kByte, 110e3);
    const Result<Job> text =
        job("{model: bert-base, method: full, samples: 100k, sequence: 128, epochs: 3}");
    EXPECT_DOUBLE_EQ(text->tokens / kToken, 38.4e6);
    expect_one("{model: bert-base, samples: 100k}", 1, 29, "sequence length");
}

TEST(Job, HoursInPlaceOfTokens) {
    const Result<Job> j =
        job("{model: {params: 7B}, method: full, accelerator_hours_each: 21, copies: 200, data: "
            "public}");
    ASSERT_TRUE(j.has_value()) << format(j.error().diagnostics);
    EXPECT_EQ(j->copies, 200);
    EXPECT_EQ(j->accelerator_hours_each, 21);
    EXPECT_TRUE(j->data_public);
    EXPECT_FALSE(job("model: gpt2\n").has_value());  // nothing says how much
}

TEST(Job, OnPremQuoteWithoutAModel) {
    const Result<Job> j =
        job("on_prem: {capex: $320k, kw: 10.2, pue: 1.4, kwh: 0.12, years: 3, fte: 0.25, fte_cost: "
            "$180k, "
            "maintenance: 0.05, utilisation: [0.45, 0.9], reference: p5.48xlarge}");
    ASSERT_TRUE(j.has_value()) << format(j.error().diagnostics);
    ASSERT_TRUE(j->on_prem.has_value());
    EXPECT_DOUBLE_EQ(j->on_prem->capex / kUsd, 320'000);
    EXPECT_DOUBLE_EQ(j->on_prem->per_kilowatt_hour / kUsd, 0.12);
    EXPECT_EQ(j->on_prem->utilisation, (std::vector<double>{0.45, 0.9}));
    EXPECT_EQ(j->model.layers, 0);
    const Result<Job> bad = job("on_prem: {capex: 0, kw: 10.2, kwh: 0.12, utilisation: 1.5}");
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error().diagnostics.size(), 3U)
        << format(bad.error().diagnostics);  // capex, years, utilisation
}

TEST(JobBad, Values) {
    expect_one("model: gpt2\ntokens: 300Q\n", 2, 9, "\"300Q\" is not a number of tokens");
    expect_one("model: gpt2\ntokens: -5\n", 2, 9, "tokens");
    expect_one("model: gpt2\ntokens: 0\n", 2, 9, "out of range");
    expect_one("model: gpt2\ntokens: 1B\nbudget: 0\n", 3, 9, "must be more than 0");
    expect_one("model: gpt2\ntokens: 1B\nbudget: -20\n", 3, 9, "budget");
    expect_one("model: gpt2\ntokens: 1B\nbudget: lots\n", 3, 9, "budget");
    expect_one("model: gpt2\ntokens: 1B\ndeadline: 0d\n", 3, 11, "must be more than 0");
    expect_one("model: gpt2\ntokens: 1B\ndeadline: -3d\n", 3, 11, "neither a duration nor a date");
    expect_one("model: gpt2\ntokens: 1B\ndeadline: 30\n", 3, 11, "neither a duration nor a date");
    expect_one("model: gpt2\ntokens: 1B\ndeadline: 2027-02-30\n", 3, 11,
               "neither a duration nor a date");
    expect_one("model: gpt2\ntokens: 1B\nspot: perhaps\n", 3, 7, "neither yes nor no");
    expect_one("model: gpt2\ntokens: 1B\nmfu: 1.5\n", 3, 6, "mfu");
    expect_one("model: gpt2\ntokens: 1B\nnodes: 0\n", 3, 8, "nodes");
    expect_one("model: gpt2\ntokens: 1B\nbatch: 512\n", 3, 8, "without a sequence length");
    expect_one("model: gpt2\ntokens: 1B\nregions: 7\n", 3, 10, "region names");
    expect_one("model: gpt2\ntokens: 1B\nseq: 1024\nsequence: 1024\n", 3, 6, "same setting");
}

TEST(JobBad, NotANumber) {
    EXPECT_FALSE(job("model: gpt2\ntokens: .nan\n").has_value());
    EXPECT_FALSE(job("model: gpt2\ntokens: NaN\n").has_value());
    EXPECT_FALSE(job("model: gpt2\ntokens: 1B\nmfu: .inf\n").has_value());
    EXPECT_FALSE(job("model: gpt2\ntokens: 1e400\n").has_value());
}

TEST(JobBad, UnknownKeysNameTheNearest) {
    const Result<Job> j = job("model: gpt2\ntokens: 1B\ndedline: 3d\n");
    ASSERT_FALSE(j.has_value());
    ASSERT_EQ(j.error().diagnostics.size(), 1U);
    const std::string text = format(j.error().diagnostics);
    EXPECT_NE(text.find("job.yaml:3:"), std::string::npos) << text;
    EXPECT_NE(text.find("deadline"), std::string::npos) << text;
}

TEST(JobBad, EveryMistakeIsCollected) {
    const Result<Job> j =
        job("model: lama\ntokens: 300Q\nbudget: 0\ndeadline: soon\nprecision: fp15\ncopies: "
            "0\nfoo: 1\n");
    ASSERT_FALSE(j.has_value());
    EXPECT_EQ(j.error().diagnostics.size(), 7U) << format(j.error().diagnostics);
}

TEST(Job, DeadlineDates) {
    const Result<Job> j = job("{model: gpt2, tokens: 1B, deadline: 2026-12-31}");
    ASSERT_TRUE(j.has_value()) << format(j.error().diagnostics);
    ASSERT_TRUE(j->deadline_date.has_value());
    const Result<Job> known = resolve_deadline(*j, "2026-12-01");
    ASSERT_TRUE(known.has_value());
    EXPECT_DOUBLE_EQ(*known->deadline / kDay, 31);  // to the end of the 31st
    EXPECT_FALSE(known->deadline_date.has_value());
    EXPECT_DOUBLE_EQ(*resolve_deadline(*j, "2026-12-31")->deadline / kDay, 1);
    // A quarter to midnight: fifteen minutes are left of the day.
    EXPECT_DOUBLE_EQ(*resolve_deadline(*j, "2026-12-31", 23.75 * kHour)->deadline / kMinute, 15);
    const Result<Job> late = resolve_deadline(*j, "2027-01-01");
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().diagnostics[0].what, "deadline: 2026-12-31 is in the past");
    EXPECT_EQ(late.error().diagnostics[0].where.column, 37);
}

}  // namespace
}  // namespace trainyard::workload
