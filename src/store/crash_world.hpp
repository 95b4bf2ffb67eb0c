#pragma once
// For tests: a machine and a store that can die at any call, and an auditor that knows what must
// be true afterwards. The auditor reads raw bytes; it shares no code with what it judges but the
// reader of manifests.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "trainyard/store/directory_store.hpp"
#include "trainyard/store/repository.hpp"
#include "trainyard/sys/memory_env.hpp"

namespace trainyard::store::crash {

/// Mistakes in order or durability, planted to see whether the auditor finds them.
enum class Bug {
    none,
    no_file_sync,             ///< data is not synced before its name
    no_directory_sync,        ///< names are not synced
    manifest_first,           ///< data reaches the store after the manifest
    manifest_torn,            ///< the manifest appears in two halves
    unconditional_commit,     ///< if_absent is ignored
    commit_without_write,     ///< the commit reports success and writes nothing
    no_intent,                ///< intents are not written
    no_tombstone,             ///< an abort takes no name
    no_trash,                 ///< a prune leaves no note of what it removes
    data_before_manifest,     ///< prune removes data before the manifest
    intents_not_listed,       ///< nobody sees who is at work
    trash_not_listed,         ///< an interrupted prune is never finished
    uploads_not_listed,       ///< uploads of the dead are never aborted
    abort_does_nothing,       ///< uploads are not aborted
    part_lost,                ///< a part is accepted and dropped
    put_truncated,            ///< an object loses its last byte on the way
    part_damaged,             ///< a part arrives with a wrong byte
    remove_too_much,          ///< a removal takes a neighbour along
    remove_nothing,           ///< removals do nothing
    stale_manifest_list,      ///< the newest manifest is not listed
    data_listed_before_sent,  ///< an object is named as there before its bytes are
};
inline constexpr int kBugs = 21;

class World {
  public:
    enum class StoreKind { directory, memory };
    World(std::uint64_t seed, StoreKind kind, Bug bug = Bug::none);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// The training job saves step N: four files, one of them the same in every step, one in parts.
    void save(std::int64_t step);
    Result<PutReport> put(std::int64_t step, int node = 0, int nodes = 1);
    Result<PruneReport> prune(int keep_last);
    Result<VerifyReport> verify_newest();
    sys::Faults& faults();
    sys::Env& env();
    aws::ObjectStore& objects();
    /// The process is gone; with `power` what was not synced is, too.
    void crash(bool power);
    void wait_seconds(std::int64_t seconds);

    /// What is wrong; empty: nothing. Always true: every manifest is whole and names whole objects
    /// of one save; what was reported as committed is there unless a prune may have taken it.
    std::string audit();
    /// Besides, once a later run has succeeded: nothing is left that no manifest names.
    std::string audit_orphans();
    /// Restores the newest and compares.
    std::string audit_restore();
    std::map<std::string, std::string> raw() const;

  private:
    struct Parts;
    RepositorySettings settings() const;
    std::unique_ptr<Parts> parts_;
    StoreKind kind_;
    Bug bug_;
    std::map<std::int64_t, std::map<std::string, std::string>> saved_;
    std::set<std::int64_t> visible() const;
    std::set<std::int64_t> promised_;  ///< committed, by report or by sight
    std::set<std::int64_t> doomed_;    ///< a prune may have taken them
    int restores_ = 0;
};

}  // namespace trainyard::store::crash
