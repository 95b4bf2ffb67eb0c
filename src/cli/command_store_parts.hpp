#pragma once
// The actions of `trainyard store`.

#include <atomic>
#include <memory>

#include "command.hpp"
#include "simulate_progress.hpp"
#include "trainyard/aws/object_store.hpp"
#include "trainyard/store/recognise.hpp"
#include "trainyard/store/repository.hpp"

namespace trainyard::cli {

/// A store that is open: a directory or s3://bucket/prefix.
struct OpenStore {
    std::string name;
    std::string prefix;  ///< of all keys: "" or "team/run-7/"
    std::unique_ptr<aws::ObjectStore> objects;
    std::unique_ptr<store::Repository> repository;
    std::unique_ptr<ProgressBar> bar;  ///< on a terminal only
    std::stop_source stop;
    const std::atomic<bool>* interrupt = nullptr;  ///< set: transfers are stopped

    void show(std::uint64_t done, std::uint64_t total);
    std::uint64_t shown = 0;
    std::int64_t begun_ns = 0;
};
enum class OpenFor {
    reading,  ///< a directory that is not there is a mistake
    writing,
};
Result<std::unique_ptr<OpenStore>> open_store(const Args& args, const std::string& where, Io& io,
                                              OpenFor purpose = OpenFor::writing);

/// What put and watch ask of a checkpoint.
struct StoreInput {
    store::RecogniseOptions recognise;
    std::optional<std::int64_t> step;
    int node = 0;
    int nodes = 1;
    std::string attempt;
    bool as_is = false;
    std::optional<Seconds> within;
};
Result<StoreInput> store_input(const Args& args);
Result<store::PruneRules> prune_rules(const Args& args);
bool has_prune_rule(const store::PruneRules& rules);

/// Tells whether a directory can be put, and if so what; a reason otherwise.
Result<store::PutRequest> request_of(const std::string& directory, const StoreInput& input,
                                     const store::Recognition& found);

Result<Outcome> run_store_put(const Args& args, Io& io);
Result<Outcome> run_store_get(const Args& args, Io& io);
Result<Outcome> run_store_ls(const Args& args, Io& io);
Result<Outcome> run_store_verify(const Args& args, Io& io);
Result<Outcome> run_store_prune(const Args& args, Io& io);
Result<Outcome> run_store_watch(const Args& args, Io& io);

void print_put(const Args& args, Io& io, const store::PutReport& report, std::int64_t step);

Error store_mistake(std::string where, std::string what, std::string fix);

}  // namespace trainyard::cli
