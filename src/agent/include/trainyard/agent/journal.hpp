#pragma once
// What a run keeps on disk: SQLite in STATE/state.db. Survives kill -9 at any moment; read by
// `trainyard status` while the supervisor writes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainyard/agent/machine.hpp"
#include "trainyard/base/result.hpp"
#include "trainyard/sys/env.hpp"

struct sqlite3;

namespace trainyard::agent {

struct AttemptRow {
    int number = 0;
    std::int64_t started_ns = 0;  ///< since 1970, UTC
    std::int64_t ended_ns = 0;    ///< 0: it runs
    std::int64_t from_step = -1;
    std::int64_t last_step = -1;
    std::string outcome;  ///< in words
    std::string directory;
    sys::ProcessId keeper;  ///< the process that attends it
};

class Journal {
  public:
    /// ErrorKind::world: it cannot be opened, or is damaged.
    static Result<std::unique_ptr<Journal>> open(const std::string& path);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    std::optional<std::string> get(const std::string& key);
    std::optional<std::int64_t> get_integer(const std::string& key);
    /// nullopt: done. A full disk is an error that the run survives.
    std::optional<Error> set(const std::string& key, const std::string& value);
    std::optional<Error> set(const std::string& key, std::int64_t value);

    using Values = std::vector<std::pair<std::string, std::string>>;
    std::optional<Error> set(const Values& values);  ///< all or none
    std::optional<Error> save(const Memory& memory);
    Memory load();
    std::optional<Error> save(const AttemptRow& row);
    std::vector<AttemptRow> attempts();  ///< oldest first
    std::optional<AttemptRow> last_attempt();

    /// "stop" and the like from other processes.
    std::optional<Error> ask(const std::string& request);
    std::vector<std::string> take_requests();

  private:
    Journal(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
    class Statement;
    std::optional<Error> run(const std::string& sql);
    Error failure() const;
    std::optional<Error> save_failures(const Memory& memory);
    sqlite3* db_;
    std::string path_;
};

}  // namespace trainyard::agent
