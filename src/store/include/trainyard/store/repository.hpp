#pragma once
// Checkpoints in an object store: each is whole or not there at all.
// docs/reference/store-manifest.md has the keys and the protocol; in short:
// - data first, then the manifest by a conditional write: that is the commit;
// - who gives up on an unfinished checkpoint takes its name by the same conditional write, so one
// of
//   commit and abort wins;
// - what is unchanged is not sent again; an interrupted put sends only what is missing;
// - only keys that a manifest or an intent of ours names are ever deleted.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "trainyard/aws/object_store.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/store/forecast.hpp"
#include "trainyard/store/manifest.hpp"
#include "trainyard/store/tree.hpp"

namespace trainyard::store {

/// Bytes done of bytes to do.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct RepositorySettings {
    std::string prefix;                                 ///< of all keys: "" or "team/run-7/"
    int jobs = 8;                                       ///< transfers at a time; 1: no threads
    std::uint64_t part_size = std::uint64_t{8} << 20U;  ///< wanted; the store's limits rule
    std::string created_by = "trainyard";
    Seconds lease = 24 * kHour;  ///< a writer of another host is taken for dead after this
    std::stop_token stop;
    Progress progress;  ///< may be called from any thread
    /// Warnings while it works: a fall-back, a clean-up that failed.
    std::function<void(const Diagnostic&)> warn;
};

struct PutRequest {
    Tree tree;
    std::int64_t step = 0;
    std::string layout;
    int node = 0;
    int nodes = 1;
    std::string attempt;  ///< the same on all nodes, another for each run; required if nodes > 1
    /// From now on, until the machine goes away: committed kCommitMargin before, or given up for
    /// now with an error; what was sent is resumed by the next put.
    std::optional<Seconds> within;
};
struct PutReport {
    std::string id;
    bool committed = false;  ///< false: shards of other nodes are still missing
    bool was_there = false;  ///< nothing was to be done
    int nodes_there = 1;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sent = 0;     ///< bytes that went to the store now
    std::uint64_t reused = 0;   ///< bytes of files unchanged since an older checkpoint
    std::uint64_t resumed = 0;  ///< bytes that an interrupted put had sent
};

struct Stored {
    Manifest manifest;
    bool verified = false;
};
struct Inventory {
    std::vector<Stored> checkpoints;   ///< newest first: by step, then by time
    std::vector<std::string> damaged;  ///< manifests that cannot be read
    int unfinished = 0;                ///< ids with an intent or shards but no manifest
};

struct GetRequest {
    std::string destination;           ///< must not exist, or be an empty directory
    std::optional<std::int64_t> step;  ///< exactly this one; absent: the newest that is sound
    /// On the disk when get() returns. False: a power cut may damage what was restored.
    bool sync = true;
};
struct GetReport {
    std::string id;
    std::int64_t step = 0;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t received = 0;
    int skipped = 0;  ///< newer checkpoints that were damaged
};

struct VerifyReport {
    std::string id;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::vector<std::string> flaws;  ///< "path: why"; empty: sound
};

struct PruneRules {
    std::optional<int> keep_last;
    std::optional<Seconds> keep_within;      ///< younger than this
    std::optional<std::int64_t> keep_every;  ///< steps divisible by this
    int keep_verified = 1;                   ///< the newest so many that were verified
    bool dry_run = false;
};
struct PruneReport {
    std::vector<std::string> removed;  ///< ids
    std::vector<std::string> kept;
    std::uint64_t freed = 0;  ///< bytes of objects deleted, or that would be
    bool deferred = false;    ///< a put is at work: data goes at the next prune
};

class Repository {
  public:
    Repository(sys::Env& env, aws::ObjectStore& store, RepositorySettings settings);

    Result<PutReport> put(const PutRequest& request);
    /// From the puts of this object so far, the running one included; nullopt: nothing is known.
    std::optional<Forecast> forecast() const { return meter_.forecast(); }
    Result<Inventory> inventory();
    Result<GetReport> get(const GetRequest& request);
    /// Reads every byte of one checkpoint; a sound one is stamped as verified.
    Result<VerifyReport> verify(const std::string& id);
    Result<PruneReport> prune(const PruneRules& rules);
    /// What dead writers left: their unfinished checkpoints, uploads, half a prune. Part of put and
    /// prune. `own_id` is left alone.
    std::optional<Error> sweep(const std::string& own_id);

  private:
    friend class Sender;
    friend class Receiver;

    using Keys = std::vector<std::string>;

    std::string key(std::string_view name) const { return settings_.prefix + std::string(name); }
    aws::Call call() const { return {.deadline = {}, .stop = settings_.stop}; }
    std::int64_t now() { return env_.now_ns() / 1'000'000'000; }
    void warn(std::string where, std::string what, std::string why);
    /// All objects below a name, keys without our prefix.
    Result<std::vector<aws::ObjectInfo>> list(const std::string& below);
    std::optional<Error> remove(const Keys& names);
    /// nullopt inside: it is not there.
    Result<std::optional<Manifest>> read(const std::string& name);
    /// False inside: somebody else had written it first.
    Result<bool> write_if_absent(const std::string& name, const Manifest& manifest);
    std::optional<Error> write(const std::string& name, const Manifest& manifest);

    Result<std::string> choose_id(const PutRequest& request, PutReport& report);
    Manifest intent_of(const PutRequest& request, const std::string& id);
    std::optional<Error> clean_after_commit(const std::string& own_intent);
    std::optional<Error> claim(const Manifest& intent);
    std::optional<Error> abandon(const std::string& id, const std::vector<Manifest>& intents);
    std::optional<Error> sweep_uploads(const std::string& own_id);
    Result<bool> collect_trash();
    std::optional<Error> drop_tombstones();
    std::optional<Error> commit(Manifest manifest, PutReport& report);
    std::optional<Error> commit_shards(const PutRequest& request, PutReport& report);
    /// Whether every object of it is there with its size.
    std::optional<Error> expect_objects(const Manifest& manifest);
    bool is_dead(const Manifest& intent);

    sys::Env& env_;
    aws::ObjectStore& store_;
    RepositorySettings settings_;
    RateMeter meter_;
};

/// Runs work(0) … work(count - 1), `jobs` at a time; stops at the first error and returns it.
std::optional<Error> run_jobs(int jobs, std::size_t count,
                              const std::function<std::optional<Error>(std::size_t)>& work);

}  // namespace trainyard::store
