#pragma once
// The actions of `trainyard store`.

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
    std::unique_ptr<aws::ObjectStore> objects;
    std::unique_ptr<store::Repository> repository;
    std::unique_ptr<ProgressBar> bar;  ///< on a terminal only
    std::stop_source stop;
};
Result<std::unique_ptr<OpenStore>> open_store(const Args& args, const std::string& where, Io& io);

/// What put and watch ask of a checkpoint.
struct StoreInput {
    store::RecogniseOptions recognise;
    std::optional<std::int64_t> step;
    int node = 0;
    int nodes = 1;
    std::string attempt;
    bool as_is = false;
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
