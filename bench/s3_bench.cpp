// The S3 client's own cost: checksums, signatures, and whole uploads into a sink that throws bytes
// away. The sink shares the machine, so the rate of a thread is that of CPU time: bytes_per_second
// of the "cpu" rows counts the client's threads only.

#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <thread>
#include <vector>

#include "../src/aws/sigv4.hpp"
#include "trainyard/aws/checksum.hpp"
#include "trainyard/aws/s3.hpp"
#include "trainyard/base/random.hpp"

namespace {

using namespace trainyard;
using namespace trainyard::aws;

std::string bytes_of(std::size_t size) {
    Random random(1, 0);
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random.next() >> 56U);
    return bytes;
}

void checksum(benchmark::State& state, ChecksumAlgorithm algorithm) {
    const std::string data = bytes_of(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(checksum_of(algorithm, data));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK_CAPTURE(checksum, crc32c, ChecksumAlgorithm::crc32c)->Arg(4096)->Arg(8 << 20);
BENCHMARK_CAPTURE(checksum, crc64nvme, ChecksumAlgorithm::crc64nvme)->Arg(4096)->Arg(8 << 20);

void combine_checksums(benchmark::State& state) {
    const Checksum a = checksum_of(ChecksumAlgorithm::crc64nvme, "a");
    for (auto _ : state) benchmark::DoNotOptimize(combine(a, a, std::uint64_t{8} << 20U));
}
BENCHMARK(combine_checksums);

void sign_part(benchmark::State& state) {
    Signer signer("us-east-1", "s3");
    const Credentials who{"AKIAIOSFODNN7EXAMPLE", "secret", std::string(800, 't'), {}};
    const Query query = {{"partNumber", "17"}, {"uploadId", std::string(120, 'u')}};
    for (auto _ : state) {
        std::vector<sys::HttpHeader> headers = {{"Host", "bkt.s3.us-east-1.amazonaws.com"},
                                                {"x-amz-checksum-crc64nvme", "rosUhgp5mIg="}};
        signer.sign({"PUT", "/runs/a/step_100/__0_0.distcp", query, headers, kUnsignedPayload}, who,
                    SigningTime(std::chrono::seconds(1'796'000'000)));
        benchmark::DoNotOptimize(headers);
    }
}
BENCHMARK(sign_part);

/// Answers every PUT with 200 after it has thrown its body away; one thread for each connection, in
/// a process of its own so that its CPU time is not counted.
class Sink {
  public:
    Sink() {
        listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
        ::listen(listener_, 128);
        socklen_t size = sizeof address;
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        child_ = ::fork();
        if (child_ == 0) run();
    }
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    ~Sink() {
        ::kill(child_, SIGKILL);
        ::close(listener_);
    }
    int port() const { return port_; }

  private:
    [[noreturn]] void run() const {
        for (;;) {
            const int connection = ::accept(listener_, nullptr, nullptr);
            if (connection < 0) ::_exit(0);
            std::thread([connection] { serve(connection); }).detach();
        }
    }
    static void serve(int connection) {
        std::vector<char> buffer(std::size_t{1} << 20U);
        std::string head;
        for (;;) {
            const ssize_t n = ::recv(connection, buffer.data(), buffer.size(), 0);
            if (n <= 0) break;
            head.append(buffer.data(), static_cast<std::size_t>(n));
            const std::size_t end = head.find("\r\n\r\n");
            if (end == std::string::npos) continue;
            const std::size_t at = head.find("Content-Length: ");
            std::size_t length = 0;
            if (at < end) std::from_chars(head.data() + at + 16, head.data() + end, length);
            if (head.find("Expect: 100-continue") < end)
                say(connection, "HTTP/1.1 100 Continue\r\n\r\n");
            std::size_t got = head.size() - end - 4;
            head.clear();
            while (got < length) {
                // MSG_TRUNC drops the bytes in the kernel: the sink costs as little as one can.
                const ssize_t m =
                    ::recv(connection, nullptr, std::min(length - got, buffer.size()), MSG_TRUNC);
                if (m <= 0) break;
                got += static_cast<std::size_t>(m);
            }
            say(connection, "HTTP/1.1 200 OK\r\nETag: \"0\"\r\nContent-Length: 0\r\n\r\n");
        }
        ::close(connection);
    }
    static void say(int connection, std::string_view text) {
        ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    }

    int listener_ = -1;
    int port_ = 0;
    pid_t child_ = 0;
};

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// 256 parts from so many callers; with or without a checksum made by each caller.
void upload(benchmark::State& state, bool is_checked) {
    const Sink sink;
    S3Settings settings;
    settings.bucket = "bkt1";
    settings.endpoint = "http://127.0.0.1:" + std::to_string(sink.port());
    settings.send_checksums = is_checked;
    settings.http_threads = 1;
    const auto opened = open_s3(settings, fixed_credentials({"a", "b", {}, {}}));
    ObjectStore& store = **opened;
    const std::string part = bytes_of(std::size_t{8} << 20U);
    const int callers = static_cast<int>(state.range(0));
    constexpr int kParts = 256;
    std::atomic<int> failed = 0;
    double cpu = 0;
    for (auto _ : state) {
        const double before = cpu_seconds();
        std::atomic<int> next = 1;
        std::vector<std::jthread> threads;
        for (int i = 0; i < callers; ++i) {
            threads.emplace_back([&] {
                for (int n = next++; n <= kParts; n = next++) {
                    const Checksum sum =
                        is_checked ? checksum_of(ChecksumAlgorithm::crc32c, part) : Checksum{};
                    failed += store.put_part({"k", "u"}, n, part, sum, {}) ? 0 : 1;
                }
            });
        }
        threads.clear();
        cpu += cpu_seconds() - before;
    }
    const double bytes =
        static_cast<double>(part.size()) * kParts * static_cast<double>(state.iterations());
    if (failed != 0) state.SkipWithError("parts failed");
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
    state.counters["cpu_s_per_GB"] = cpu / bytes * 1e9;
    state.counters["GB_per_cpu_s"] = bytes / 1e9 / cpu;
}
BENCHMARK_CAPTURE(upload, plain, false)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(upload, crc32c, true)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
