#pragma once
// Runs fault_server.py, or another server that prints its port, for the life of the object. The
// current directory is the repository's root, as ctest sets it. port() is 0 if it does not start
// (no python3): skip the test then.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace trainyard {

class FaultServer {
  public:
    static constexpr const char* kAccessKey = "AKIATESTFAULTSERVER0";
    static constexpr const char* kSecretKey = "secret/of+the=fault-server";

    explicit FaultServer(const std::vector<std::string>& options = {},
                         const std::string& script = "tests/support/fault_server.py") {
        std::vector<std::string> words = {"python3", script};
        words.insert(words.end(), options.begin(), options.end());
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        std::array<int, 2> input{};
        std::array<int, 2> output{};
        if (::pipe2(input.data(), O_CLOEXEC) != 0 || ::pipe2(output.data(), O_CLOEXEC) != 0) return;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
        if (::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) !=
            0) {
            pid_ = 0;
        }
        posix_spawn_file_actions_destroy(&actions);
        ::close(input[0]);
        ::close(output[1]);
        input_ = input[1];
        read_port(output[0]);
        ::close(output[0]);
    }
    FaultServer(const FaultServer&) = delete;
    FaultServer& operator=(const FaultServer&) = delete;
    ~FaultServer() {
        if (input_ >= 0) ::close(input_);  // it ends when its input does
        if (pid_ == 0) return;
        for (int i = 0; i < 1000; ++i) {
            if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
            ::poll(nullptr, 0, 10);
        }
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    int port() const { return port_; }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  private:
    void read_port(int from) {
        std::string line;
        char c = 0;
        pollfd ready{from, POLLIN, 0};
        while (::poll(&ready, 1, 150'000) > 0 && ::read(from, &c, 1) == 1 && c != '\n') line += c;
        for (const char digit : line) port_ = 10 * port_ + (digit - '0');
    }

    pid_t pid_ = 0;
    int input_ = -1;
    int port_ = 0;
};

}  // namespace trainyard
