#include "trainyard/agent/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "trainyard/sys/environment.hpp"

namespace trainyard::agent {

namespace {

using store::Completeness;

std::string words(const Error& error) {
    if (error.diagnostics.empty()) return "unknown";
    const Diagnostic& d = error.diagnostics.front();
    std::string text = d.where.file.empty() ? d.what : d.where.file + ": " + d.what;
    if (!d.why.empty()) text += " (" + d.why + ")";
    return text;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The whole tree; used on what a dead writer left half-written only.
void remove_tree(sys::Env& env, const std::string& path) {
    const auto entries = env.list(path);
    if (!entries) {
        (void)env.unlink(path);
        return;
    }
    for (const sys::DirectoryEntry& entry : *entries) {
        const std::string below = path + "/" + entry.name;
        if (entry.kind == sys::FileKind::directory) {
            remove_tree(env, below);
        } else {
            (void)env.unlink(below);
        }
    }
    (void)env.remove_directory(path);
}

struct Local {
    std::vector<std::string> half;  ///< incomplete ones newer than `newest`
    std::optional<LocalCheckpoint> newest;
};

Result<Local> examine(sys::Env& env, const CheckpointPlace& place) {
    Local local;
    const auto there = env.status(place.directory);
    if (!there && there.error().code == ENOENT) return local;
    const auto paths = store::find_checkpoints(env, place.directory);
    if (!paths) return paths.error();
    for (const std::string& path : *paths) {
        auto found = store::recognise(env, path, place.recognise);
        if (!found) continue;  // it vanished
        const auto step = found->step ? found->step : store::step_of_name(base_name(path));
        if (found->state == Completeness::complete && step) {
            local.newest = LocalCheckpoint{path, *step, std::move(*found)};
            return local;
        }
        local.half.push_back(path);
    }
    return local;
}

/// `what`: "incomplete", or "superseded" by a generation that begins from an earlier step.
void put_aside(sys::Env& env, const std::vector<std::string>& paths, std::string_view what,
               const std::function<void(std::string)>& say) {
    for (const std::string& path : paths) {
        const std::string aside = fmt::format("{}.{}.tmp", path, what);
        remove_tree(env, aside);
        if (env.rename(path, aside)) {
            say(fmt::format("{} is {}: renamed to {}", path, what, base_name(aside)));
        }
    }
}

/// Megatron-LM and DeepSpeed read which checkpoint to load from a file beside them, which may name
/// one that was never finished.
void right_tracker(sys::Env& env, const std::string& directory, const std::string& layout,
                   const std::string& path, std::int64_t step) {
    const bool is_deepspeed = layout == "deepspeed";
    if (!is_deepspeed && !layout.starts_with("megatron")) return;
    const std::string file =
        directory + (is_deepspeed ? "/latest" : "/latest_checkpointed_iteration.txt");
    const std::string wanted = is_deepspeed ? base_name(path) : std::to_string(step);
    constexpr std::uint64_t kSmall = 4096;
    const auto text = sys::read_whole(env, file, kSmall);
    if (text && text->substr(0, text->find('\n')) == wanted) return;
    (void)sys::write_file(file, wanted);
}

Event failed(std::string why) { return event::PrepareFailed{std::move(why)}; }

/// Restores the newest sound checkpoint of the store into the directory.
/// `step`: exactly that one; absent: the newest.
Event restore(sys::Env& env, const CheckpointPlace& place, const Local& local,
              std::optional<std::int64_t> step, const std::function<void(std::string)>& say) {
    const std::string staging = place.directory + "/.trainyard-restore";
    if (const auto made = sys::make_directories(env, place.directory); !made) {
        return failed(words(made.error().as_error()));
    }
    remove_tree(env, staging);  // whole, of a supervisor that died before it gave it its name
    const auto report = place.repository->get({.destination = staging, .step = step});
    if (!report) return failed(words(report.error()));
    if (local.newest && report->step <= local.newest->step) {
        remove_tree(env, staging);
        say(fmt::format("the newer ones in {} are damaged: beginning from {}", place.store_name,
                        local.newest->path));
        return event::Prepared{local.newest->path, local.newest->step, report->step};
    }
    const auto found = store::recognise(env, staging, place.recognise);
    const std::string layout = found ? std::string(store::name(found->layout)) : "";
    const std::string path =
        place.directory + "/" + checkpoint_name(env, place.directory, layout, report->step);
    remove_tree(env, path);  // incomplete, or it would have been the one to begin from
    if (const auto named = env.rename(staging, path); !named) {
        return failed(words(named.error().as_error()));
    }
    (void)env.sync_directory(place.directory);
    right_tracker(env, place.directory, layout, path, report->step);
    say(fmt::format("step {} restored from {} to {}", report->step, place.store_name, path));
    return event::Prepared{path, report->step, report->step};
}

}  // namespace

std::string checkpoint_name(sys::Env& env, const std::string& directory, const std::string& layout,
                            std::int64_t step) {
    if (const auto entries = env.list(directory)) {
        for (const sys::DirectoryEntry& entry : *entries) {
            std::string name = entry.name;
            // One that was put aside still shows how the trainer writes names.
            for (const std::string_view aside : {".incomplete.tmp", ".superseded.tmp"}) {
                if (name.ends_with(aside)) name.resize(name.size() - aside.size());
            }
            if (entry.kind != sys::FileKind::directory || name.starts_with('.') ||
                store::is_temporary_name(name) || !store::step_of_name(name)) {
                continue;
            }
            const std::size_t last = name.find_last_of("0123456789");
            const std::size_t first = name.find_last_not_of("0123456789", last) + 1;
            const bool is_padded = name[first] == '0' && last > first;
            const std::size_t width = is_padded ? last + 1 - first : 0;
            return fmt::format("{}{:0{}}{}", name.substr(0, first), step, width,
                               name.substr(last + 1));
        }
    }
    if (layout == "hf-trainer") return fmt::format("checkpoint-{}", step);
    if (layout == "deepspeed") return fmt::format("global_step{}", step);
    if (layout.starts_with("megatron")) return fmt::format("iter_{:07}", step);
    if (layout == "accelerate") return fmt::format("checkpoint_{}", step);
    return fmt::format("step-{}", step);
}

Event prepare(sys::Env& env, const CheckpointPlace& place, std::int64_t committed,
              const std::function<void(std::string)>& say) {
    if (place.directory.empty()) return event::Prepared{};
    auto local = examine(env, place);
    if (!local) return failed(words(local.error()));
    std::int64_t stored = -1;
    if (place.repository != nullptr) {
        const auto inventory = place.repository->inventory();
        if (!inventory && !local->newest) {
            // From the start again while the store holds the work of days: never.
            return failed(words(inventory.error()));
        }
        if (!inventory) {
            say(fmt::format("{}: beginning from the directory", words(inventory.error())));
        } else if (!inventory->checkpoints.empty()) {
            stored = inventory->checkpoints.front().manifest.step;
        } else if (!inventory->damaged.empty() && !local->newest) {
            return failed(place.store_name + ": every manifest is damaged");
        } else if (committed >= 0 && !local->newest) {
            return failed(
                fmt::format("{} held step {} and shows nothing now: is it the right place, "
                            "is it mounted? (to begin from the start: another --state)",
                            place.store_name, committed));
        }
    }
    put_aside(env, local->half, "incomplete", say);
    if (stored > (local->newest ? local->newest->step : -1)) {
        return restore(env, place, *local, std::nullopt, say);
    }
    if (!local->newest) return event::Prepared{};
    right_tracker(env, place.directory, std::string(store::name(local->newest->found.layout)),
                  local->newest->path, local->newest->step);
    return event::Prepared{local->newest->path, local->newest->step, stored};
}

Result<std::int64_t> newest_step(sys::Env& env, const CheckpointPlace& place, bool is_shared) {
    std::int64_t newest = -1;
    if (place.repository != nullptr) {
        const auto inventory = place.repository->inventory();
        if (!inventory) return inventory.error();
        if (!inventory->checkpoints.empty()) newest = inventory->checkpoints.front().manifest.step;
    }
    if (!is_shared || place.directory.empty()) return newest;
    const auto local = examine(env, place);
    if (!local) return local.error();
    return std::max(newest, local->newest ? local->newest->step : -1);
}

Event prepare_step(sys::Env& env, const CheckpointPlace& place, const GroupPlace& group,
                   const std::function<void(std::string)>& say) {
    const bool is_first = group.rank == 0;
    const auto fail = [&](std::string why) {
        return event::PrepareFailed{std::move(why), false, group.generation};
    };
    if (place.directory.empty()) return event::Prepared{"", -1, -1, group.generation};
    Local local;
    std::vector<std::string> beyond;
    const auto paths = store::find_checkpoints(env, place.directory);
    for (const std::string& path : paths ? *paths : std::vector<std::string>{}) {
        auto found = store::recognise(env, path, place.recognise);
        if (!found) continue;  // it vanished
        const auto step = found->step ? found->step : store::step_of_name(base_name(path));
        if (found->state == Completeness::complete && step && *step <= group.from) {
            if (*step == group.from) local.newest = LocalCheckpoint{path, *step, std::move(*found)};
            break;  // the highest come first
        }
        (found->state == Completeness::complete ? beyond : local.half).push_back(path);
    }
    if (is_first || !group.is_shared) {
        put_aside(env, local.half, "incomplete", say);
        put_aside(env, beyond, "superseded", say);
    }
    if (group.from < 0) return event::Prepared{"", -1, -1, group.generation};
    std::int64_t stored = group.from;  // only the first node sends
    if (is_first && place.repository != nullptr) {
        const auto inventory = place.repository->inventory();
        if (!inventory) return fail(words(inventory.error()));
        stored = inventory->checkpoints.empty() ? -1 : inventory->checkpoints.front().manifest.step;
    }
    if (local.newest) {
        right_tracker(env, place.directory, std::string(store::name(local.newest->found.layout)),
                      local.newest->path, group.from);
        return event::Prepared{local.newest->path, group.from, stored, group.generation};
    }
    if (group.is_shared && !is_first) {
        return fail(
            fmt::format("step {} is not to be seen in {} yet", group.from, place.directory));
    }
    Event restored = restore(env, place, local, group.from, say);
    if (auto* done = std::get_if<event::Prepared>(&restored)) done->generation = group.generation;
    if (auto* bad = std::get_if<event::PrepareFailed>(&restored)) {
        bad->generation = group.generation;
    }
    return restored;
}

Scanner::Scanner(sys::Env& env, CheckpointPlace place) : env_(env), place_(std::move(place)) {}

void Scanner::start_from(std::int64_t step) {
    floor_ = step;
    known_.clear();
}

std::vector<LocalCheckpoint> Scanner::look(bool no_writers) {
    std::vector<LocalCheckpoint> fresh;
    if (place_.directory.empty()) return fresh;
    const auto paths = store::find_checkpoints(env_, place_.directory);
    if (!paths) return fresh;  // not there yet
    for (const std::string& path : *paths) {
        const auto named = store::step_of_name(base_name(path));
        if (known_.contains(path) || (named && *named <= floor_)) continue;
        auto found = store::recognise(env_, path, place_.recognise);
        if (!found) continue;
        last_write_ns_ = std::max(last_write_ns_, found->tree.newest_ns);
        const auto step = found->step ? found->step : named;
        const bool is_whole = found->state == Completeness::complete ||
                              (no_writers && found->state == Completeness::settling);
        if (!step || !is_whole) continue;
        known_.insert(path);
        if (*step > floor_) fresh.push_back({path, *step, std::move(*found)});
    }
    std::sort(fresh.begin(), fresh.end(),
              [](const auto& a, const auto& b) { return a.step < b.step; });
    return fresh;
}

}  // namespace trainyard::agent
