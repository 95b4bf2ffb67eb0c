// Start-up: from posix_spawn to exit of the real binary. Goal: `trainyard --version` under 20 ms.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

extern char** environ;

namespace {

int run_quietly(std::vector<std::string> words) {
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int spawned = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = -1;
    if (spawned != 0 || waitpid(child, &status, 0) != child) return -1;
    return status;
}

void process(benchmark::State& state, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{TRAINYARD_BINARY};
    words.insert(words.end(), arguments.begin(), arguments.end());
    for (auto _ : state) {
        if (run_quietly(words) != 0) std::abort();
    }
}

}  // namespace

BENCHMARK_CAPTURE(process, version, {"--version"})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(process, help, {"--help"})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(process, decode, {"decode", "p5.48xlarge"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(process, predict, {"predict", "examples/run-70b-p5.yaml"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
