// The only file that includes SQLite.

#include "trainyard/agent/journal.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdlib>

namespace trainyard::agent {

namespace {

constexpr int kVersion = 1;
constexpr const char* kSchema =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=5000;"
    "CREATE TABLE IF NOT EXISTS value(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS attempt(number INTEGER PRIMARY KEY, started_ns INTEGER,"
    " ended_ns INTEGER, from_step INTEGER, last_step INTEGER, outcome TEXT, directory TEXT,"
    " host TEXT, boot TEXT, pid INTEGER, start INTEGER);"
    "CREATE TABLE IF NOT EXISTS failure(id INTEGER PRIMARY KEY, attempt INTEGER, step INTEGER,"
    " cause TEXT);"
    "CREATE TABLE IF NOT EXISTS request(id INTEGER PRIMARY KEY, what TEXT);";

Error world(const std::string& path, std::string why) {
    return {ErrorKind::world,
            {{.where = {path, 0, 0},
              .what = "the state of the run cannot be used",
              .why = std::move(why),
              .fix = "free the disk, or name another --state"}}};
}

}  // namespace

/// A prepared statement, bound in the order of the calls.
class Journal::Statement {
  public:
    Statement(sqlite3* db, const char* sql) {
        ::sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr);
    }
    ~Statement() { ::sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(const std::string& text) {
        ::sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT);
        return *this;
    }
    Statement& bind(std::int64_t value) {
        ::sqlite3_bind_int64(statement_, ++bound_, value);
        return *this;
    }
    bool step() { return ::sqlite3_step(statement_) == SQLITE_ROW; }
    bool done() { return ::sqlite3_step(statement_) == SQLITE_DONE; }
    std::string text(int column) {
        const auto* value = ::sqlite3_column_text(statement_, column);
        // SQLite gives UTF-8 as unsigned char.
        return value == nullptr ? "" : reinterpret_cast<const char*>(value);
    }
    std::int64_t integer(int column) { return ::sqlite3_column_int64(statement_, column); }

  private:
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
};

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path) {
    sqlite3* db = nullptr;
    const int code =
        ::sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    std::unique_ptr<Journal> journal(new Journal(db, path));
    if (code != SQLITE_OK) return journal->failure();
    if (auto error = journal->run(kSchema)) return *error;
    const auto version = journal->get_integer("version");
    if (!version) {
        if (auto error = journal->set("version", kVersion)) return *error;
    } else if (*version > kVersion) {
        return world(path, "it was written by a newer trainyard");
    }
    return journal;
}

Journal::~Journal() { ::sqlite3_close_v2(db_); }

Error Journal::failure() const { return world(path_, ::sqlite3_errmsg(db_)); }

std::optional<Error> Journal::run(const std::string& sql) {
    if (::sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
        return std::nullopt;
    }
    Error error = failure();
    // Outside a transaction this fails without effect.
    ::sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    return error;
}

std::optional<std::string> Journal::get(const std::string& key) {
    Statement s(db_, "SELECT value FROM value WHERE key=?");
    if (!s.bind(key).step()) return std::nullopt;
    return s.text(0);
}

std::optional<std::int64_t> Journal::get_integer(const std::string& key) {
    const auto text = get(key);
    if (!text) return std::nullopt;
    return std::strtoll(text->c_str(), nullptr, 10);
}

std::optional<Error> Journal::set(const std::string& key, const std::string& value) {
    Statement s(db_, "INSERT OR REPLACE INTO value VALUES(?,?)");
    if (!s.bind(key).bind(value).done()) return failure();
    return std::nullopt;
}
std::optional<Error> Journal::set(const std::string& key, std::int64_t value) {
    return set(key, std::to_string(value));
}

std::optional<Error> Journal::set(const Values& values) {
    if (auto error = run("BEGIN IMMEDIATE")) return error;
    for (const auto& [key, value] : values) {
        if (auto error = set(key, value)) {
            (void)run("ROLLBACK");
            return error;
        }
    }
    return run("COMMIT");
}

std::optional<Error> Journal::save_failures(const Memory& memory) {
    if (auto error = run("DELETE FROM failure")) return error;
    for (const Failure& f : memory.failures) {
        Statement s(db_, "INSERT INTO failure(attempt, step, cause) VALUES(?,?,?)");
        if (!s.bind(f.attempt).bind(f.step).bind(f.cause).done()) return failure();
    }
    return std::nullopt;
}

std::optional<Error> Journal::save(const Memory& memory) {
    if (auto error = run("BEGIN IMMEDIATE")) return error;
    const std::pair<const char*, std::int64_t> values[] = {
        {"attempts", memory.attempts},   {"preemptions", memory.preemptions},
        {"committed", memory.committed}, {"saved", memory.saved},
        {"resumed", memory.resumed},     {"step", memory.step}};
    std::optional<Error> error;
    for (const auto& [key, value] : values) {
        if (!error) error = set(key, value);
    }
    if (!error) error = save_failures(memory);
    if (!error) return run("COMMIT");
    (void)run("ROLLBACK");
    return error;
}

Memory Journal::load() {
    Memory memory;
    memory.attempts = static_cast<int>(get_integer("attempts").value_or(0));
    memory.preemptions = static_cast<int>(get_integer("preemptions").value_or(0));
    memory.committed = get_integer("committed").value_or(-1);
    memory.saved = get_integer("saved").value_or(-1);
    memory.resumed = get_integer("resumed").value_or(-1);
    memory.step = get_integer("step").value_or(-1);
    Statement s(db_, "SELECT attempt, step, cause FROM failure ORDER BY id");
    while (s.step()) {
        memory.failures.push_back({static_cast<int>(s.integer(0)), s.integer(1), s.text(2)});
    }
    return memory;
}

std::optional<Error> Journal::save(const AttemptRow& row) {
    Statement s(db_, "INSERT OR REPLACE INTO attempt VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    s.bind(row.number).bind(row.started_ns).bind(row.ended_ns).bind(row.from_step);
    s.bind(row.last_step).bind(row.outcome).bind(row.directory).bind(row.keeper.host);
    s.bind(row.keeper.boot).bind(row.keeper.pid).bind(static_cast<std::int64_t>(row.keeper.start));
    if (!s.done()) return failure();
    return std::nullopt;
}

std::vector<AttemptRow> Journal::attempts() {
    std::vector<AttemptRow> rows;
    Statement s(db_, "SELECT * FROM attempt ORDER BY number");
    while (s.step()) {
        rows.push_back({.number = static_cast<int>(s.integer(0)),
                        .started_ns = s.integer(1),
                        .ended_ns = s.integer(2),
                        .from_step = s.integer(3),
                        .last_step = s.integer(4),
                        .outcome = s.text(5),
                        .directory = s.text(6),
                        .keeper = {.host = s.text(7),
                                   .boot = s.text(8),
                                   .pid = s.integer(9),
                                   .start = static_cast<std::uint64_t>(s.integer(10))}});
    }
    return rows;
}

std::optional<AttemptRow> Journal::last_attempt() {
    auto rows = attempts();
    if (rows.empty()) return std::nullopt;
    return rows.back();
}

std::optional<Error> Journal::ask(const std::string& request) {
    Statement s(db_, "INSERT INTO request(what) VALUES(?)");
    if (!s.bind(request).done()) return failure();
    return std::nullopt;
}

std::vector<std::string> Journal::take_requests() {
    std::vector<std::string> all;
    {
        Statement s(db_, "SELECT what FROM request ORDER BY id");
        while (s.step()) all.push_back(s.text(0));
    }
    if (!all.empty()) (void)run("DELETE FROM request");
    return all;
}

}  // namespace trainyard::agent
