// How fast a job's NCCL log is read: mostly lines of channels, and lines of the training itself.

#include <benchmark/benchmark.h>

#include <string>

#include "trainyard/nccl/log.hpp"

namespace {

std::string job_log(std::size_t bytes) {
    std::string s;
    for (int i = 0; s.size() < bytes; ++i) {
        const std::string host = "ip-10-0-" + std::to_string(i / 64 % 256) + "-7:1234:5678 [3] ";
        s += host + "NCCL INFO Channel " + std::to_string(i % 32) +
             "/0 : 8[0] -> 0[0] [receive] via NET/AWS Libfabric/" + std::to_string(i % 32) +
             "/GDRDMA\n";
        s += "[2026-11-30 10:00:00] step " + std::to_string(i) + " loss 2.31 tokens/s 410233\n";
    }
    return s;
}

void read_log(benchmark::State& state) {
    const std::string text = job_log(std::size_t{1} << 24U);
    for (auto _ : state) {
        trainyard::nccl::LogReader reader;
        for (std::size_t at = 0; at < text.size(); at += 65536) {
            reader.feed(std::string_view(text).substr(at, 65536));
        }
        benchmark::DoNotOptimize(reader.finish());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_log)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
