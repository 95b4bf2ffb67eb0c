// trainyard store watch: each new checkpoint, as soon as it is complete.

#include <fmt/format.h>

#include <atomic>
#include <set>

#include "command_store_parts.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

class Watch {
  public:
    Watch(const Args& args, Io& io, StoreInput input, store::PruneRules rules, OpenStore& open)
        : args_(args), io_(io), input_(std::move(input)), rules_(rules), open_(open) {}

    /// Puts the newest complete checkpoint that is not in the store yet. Older ones that were
    /// overtaken meanwhile are left out, and said so: the newest is the one worth having.
    std::optional<Error> look(const std::string& root) {
        const auto paths = store::find_checkpoints(sys::real_env(), root);
        if (!paths) return paths.error();
        bool has_newer = false;
        for (const std::string& path : *paths) {
            if (done_.contains(path)) return std::nullopt;
            const auto found = store::recognise(sys::real_env(), path, input_.recognise);
            if (!found) continue;  // deleted meanwhile
            if (found->state != store::Completeness::complete) continue;
            if (has_newer) {
                done_.insert(path);
                io_.err << fmt::format("{}: left out, a newer one is complete\n", path);
                continue;
            }
            const auto request = request_of(path, input_, *found);
            if (!request) return request.error();
            const auto report = open_.repository->put(*request);
            if (!report) return failed(path, report.error());
            failures_ = 0;
            done_.insert(path);
            has_newer = true;
            print_put(args_, io_, *report, request->step);
            io_.out.flush();
            if (has_prune_rule(rules_) && report->committed) {
                const auto pruned = open_.repository->prune(rules_);
                if (!pruned) return failed(path, pruned.error());
            }
        }
        return std::nullopt;
    }

  private:
    /// The world may come back; our own mistakes do not go away.
    std::optional<Error> failed(const std::string& path, const Error& error) {
        constexpr int kMostFailures = 10;
        if ((open_.interrupt != nullptr && *open_.interrupt) || error.kind != ErrorKind::world ||
            ++failures_ >= kMostFailures || args_.flag("once")) {
            return error;
        }
        io_.report(error.diagnostics);
        io_.err << fmt::format("{}: not stored yet, trying again\n", path);
        return std::nullopt;
    }

    const Args& args_;
    Io& io_;
    StoreInput input_;
    store::PruneRules rules_;
    OpenStore& open_;
    std::set<std::string> done_;
    int failures_ = 0;  ///< in a row
};

}  // namespace

Result<Outcome> run_store_watch(const Args& args, Io& io) {
    Args::Mistakes mistakes;
    const auto interval = args.duration("interval", mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    const auto input = store_input(args);
    if (!input) return input.error();
    const auto rules = prune_rules(args);
    if (!rules) return rules.error();
    auto open = open_store(args, args.list("place")[1], io, OpenFor::writing);
    if (!open) return open.error();
    InterruptGuard interrupt;
    std::atomic<bool>* stopped = interrupt.flag();
    (*open)->interrupt = stopped;
    Watch watch(args, io, *input, *rules, **open);
    while (true) {
        const auto error = watch.look(args.list("place")[0]);
        if (*stopped) return Outcome::interrupted;  // what was being sent resumes next time
        if (error) return *error;
        if (args.flag("once")) return Outcome::done;
        // In short naps, so that Ctrl-C is answered at once.
        for (double waited = 0; waited < *interval / kSecond && !*stopped; waited += 0.2) {
            sys::real_env().sleep_ns(200'000'000);
        }
        if (*stopped) return Outcome::interrupted;
    }
}

}  // namespace trainyard::cli
