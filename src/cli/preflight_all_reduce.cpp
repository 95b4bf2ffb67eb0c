#include "preflight_all_reduce.hpp"

#include <fmt/format.h>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/nccl/log.hpp"
#include "trainyard/sys/process.hpp"

namespace trainyard::cli {

namespace {

using agent::AllReduce;

/// PyTorch alone takes ten seconds to load from a cold network disk.
constexpr std::chrono::seconds kLimit{60};
/// Between two processes on CPUs: that it works is what is learnt.
constexpr int kCpuRanks = 2;
constexpr Bytes kCpuSize = 16 * kMiB;

std::string bytes_word(Bytes size) {
    return fmt::format("{}", static_cast<std::uint64_t>(size / kByte));
}
std::string first_line(std::string_view text) {
    return printable(trim(text.substr(0, text.find('\n'))), 200);
}

/// What run_process says of a program that is not on this machine.
bool is_absent(const Diagnostic& d) { return d.what == "the program cannot be started"; }

/// nullopt: nccl-tests is not there.
std::optional<AllReduce> by_nccl_tests(int accelerators) {
    const std::string size = bytes_word(kAllReduceSize);
    const auto said = sys::run_process({"all_reduce_perf", "-b", size, "-e", size, "-g",
                                        std::to_string(accelerators), "-n", "10", "-w", "2"},
                                       kLimit);
    if (!said) {
        const Diagnostic& d = said.error().diagnostics.front();
        if (is_absent(d)) return std::nullopt;
        return AllReduce::failed("all_reduce_perf: " + d.what);
    }
    nccl::LogReader reader;
    reader.feed(said->out);
    const auto measured = reader.finish().measured;
    if (said->status != 0 || !measured) {
        const std::string_view why = said->err.empty() ? said->out : said->err;
        return AllReduce::failed(
            fmt::format("all_reduce_perf ended with {}: {}", said->status, first_line(why)));
    }
    return AllReduce{
        {},
        {},
        fmt::format("nccl-tests, {} ranks, {}", accelerators, format_bytes(kAllReduceSize)),
        measured->bus_gb_per_s * kGBPerSecond};
}

AllReduce by_pytorch(int accelerators, const std::string& python) {
    const bool has_gpus = accelerators > 0;
    const int ranks = has_gpus ? accelerators : kCpuRanks;
    const Bytes size = has_gpus ? kAllReduceSize : kCpuSize;
    const auto said =
        sys::run_process({python, "-c", preflight_files().at("all_reduce.py"),
                          has_gpus ? "nccl" : "gloo", std::to_string(ranks), bytes_word(size)},
                         kLimit);
    if (!said) {
        const Diagnostic& d = said.error().diagnostics.front();
        if (is_absent(d))
            return AllReduce::not_made("neither all_reduce_perf nor " + python + " is here");
        return AllReduce::failed(python + ": " + d.what);
    }
    const auto answer = doc::parse_json(said->out.substr(0, said->out.find('\n')), python);
    const auto text = [&](const char* key) {
        const doc::Node* n = answer ? answer->find(key) : nullptr;
        return n == nullptr ? std::string() : printable(n->text(), 300);
    };
    const std::string skipped = text("skipped");
    if (!skipped.empty()) return AllReduce::not_made("no all_reduce_perf, and " + skipped);
    const std::string problem = text("problem");
    if (!problem.empty()) return AllReduce::failed(problem);
    const doc::Node* rate = answer ? answer->find("bus_bandwidth") : nullptr;
    if (rate == nullptr || !rate->is_numeric()) {
        return AllReduce::failed(
            fmt::format("{} ended with {}: {}", python, said->status, first_line(said->err)));
    }
    return {{},
            {},
            fmt::format("{}, {} ranks, {}", text("library"), ranks, format_bytes(size)),
            rate->as_number() * kByte / kSecond};
}

}  // namespace

AllReduce measure_all_reduce(int accelerators, const std::string& python) {
    if (accelerators == 1) return AllReduce::not_made("one accelerator has nobody to talk to");
    if (accelerators > 1) {
        if (auto made = by_nccl_tests(accelerators)) return *made;
    }
    return by_pytorch(accelerators, python);
}

}  // namespace trainyard::cli
