#pragma once
// An Env in memory for crash tests. It keeps what was written apart from what was synced; crash()
// drops or tears what was not. Any single call can fail or be the last one of the process.
// Not thread-safe: a simulated process has one thread.

#include <functional>
#include <map>
#include <set>

#include "trainyard/base/random.hpp"
#include "trainyard/sys/env.hpp"

namespace trainyard::sys {

/// Counts calls and decides which of them fails. Shared by everything a simulated process touches,
/// so that "the n-th call" means the n-th of the process.
class Faults {
  public:
    enum class Verdict {
        go,
        fail,        ///< an error, without effect
        fail_after,  ///< the effect, then an error: an answer that got lost
    };
    struct Plan {
        std::uint64_t at = 0;  ///< call number from 1; 0: never
        bool kill = false;     ///< every later call fails as well, without effect
        bool after = false;    ///< whether the call itself still takes effect
        int code = 5;          ///< errno of the failure (EIO)
        double rate = 0;       ///< besides: the chance of each call to fail
        std::uint64_t seed = 1;
    };
    void arm(const Plan& plan);
    void disarm() { arm({}); }
    Verdict next(std::string_view operation);
    std::uint64_t calls() const { return calls_; }  ///< since arm()
    bool is_dead() const { return dead_; }
    int code() const { return plan_.code; }
    /// Called before each call is decided; for tests that watch or change the world in between.
    std::function<void(std::string_view operation)> watcher;

  private:
    Plan plan_;
    std::uint64_t calls_ = 0;
    bool dead_ = false;
    Random random_{1, 0};
};

class MemoryEnv : public Env {
  public:
    explicit MemoryEnv(std::uint64_t seed = 1);
    ~MemoryEnv() override;

    /// What a power cut leaves: each name and each block that was not synced is there or not, by
    /// the seed; blocks may be zero and files short.
    void lose_power();
    /// The process ends (SIGKILL): nothing is lost, but it is not alive any more.
    void end_process();

    IoResult<std::unique_ptr<File>> open(const std::string& path) override;
    IoResult<std::unique_ptr<File>> create(const std::string& path) override;
    IoResult<std::unique_ptr<File>> open_to_write(const std::string& path) override;
    IoResult<FileStatus> status(const std::string& path) override;
    IoResult<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    IoDone make_directory(const std::string& path) override;
    IoDone rename(const std::string& from, const std::string& to) override;
    IoDone link(const std::string& from, const std::string& to) override;
    IoDone unlink(const std::string& path) override;
    IoDone remove_directory(const std::string& path) override;
    IoDone sync_directory(const std::string& path) override;
    std::int64_t now_ns() override;
    std::int64_t steady_ns() override;
    void sleep_ns(std::int64_t nanoseconds) override;
    std::uint64_t random() override;
    ProcessId self() override;
    bool may_be_alive(const ProcessId& process) override;

    Faults faults;
    /// For tests that set the scene: no fault, durable at once, parents made as needed.
    void put_file(const std::string& path, std::string contents);
    /// Every file's path and contents, without faults.
    std::map<std::string, std::string> files() const;

    struct Node;
    IoDone guarded(std::string_view operation, const std::string& path,
                   const std::function<int()>& effect);

  private:
    using NodePtr = std::shared_ptr<Node>;
    struct Place {
        NodePtr directory;  ///< null: no such directory
        std::string name;
    };
    NodePtr find(const std::string& path) const;
    Place place_of(const std::string& path) const;
    IoResult<std::unique_ptr<File>> open_as(const std::string& path, bool writable);
    void lose(Node& directory);
    void lose_contents(Node& file);

    NodePtr root_;
    Random random_;
    std::int64_t now_ns_ = 1'790'000'000'000'000'000;  // in September 2026
    std::uint64_t next_inode_ = 1;
    std::int64_t pid_ = 100;
};

}  // namespace trainyard::sys
