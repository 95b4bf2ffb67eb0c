// Names, intents, commit and abort; sending is in sender.cpp, prune in repository_prune.cpp.

#include "trainyard/store/repository.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "sender.hpp"

namespace trainyard::store {

namespace {

using aws::StoreFault;

constexpr std::size_t kLargestManifest = std::size_t{1} << 30U;
constexpr std::int64_t kGrace = 60;  ///< s; a live put writes its intent within

Error world(std::string where, std::string what, std::string why, std::string fix) {
    return {ErrorKind::world,
            {{.where = {std::move(where), 0, 0},
              .what = std::move(what),
              .why = std::move(why),
              .fix = std::move(fix)}}};
}

std::string id_of_name(std::string_view name) {
    const std::size_t begin = name.find('/') + 1;
    return std::string(name.substr(begin, name.find_first_of("/.", begin) - begin));
}

}  // namespace

std::optional<Error> run_jobs(int jobs, std::size_t count,
                              const std::function<std::optional<Error>(std::size_t)>& work) {
    if (jobs <= 1 || count <= 1) {
        for (std::size_t i = 0; i < count; ++i) {
            if (auto error = work(i)) return error;
        }
        return std::nullopt;
    }
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::optional<Error> first;
    std::atomic<bool> failed = false;
    const auto loop = [&] {
        for (std::size_t i = next++; i < count && !failed; i = next++) {
            if (auto error = work(i)) {
                const std::scoped_lock lock(mutex);
                if (!first) first = std::move(error);
                failed = true;
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        const std::size_t most = std::min(count, static_cast<std::size_t>(jobs));
        for (std::size_t i = 0; i < most; ++i) threads.emplace_back(loop);
    }
    return first;
}

Repository::Repository(sys::Env& env, aws::ObjectStore& store, RepositorySettings settings)
    : env_(env), store_(store), settings_(std::move(settings)) {}

void Repository::warn(std::string where, std::string what, std::string why) {
    if (!settings_.warn) return;
    settings_.warn({.severity = Severity::warning,
                    .where = {std::move(where), 0, 0},
                    .what = std::move(what),
                    .why = std::move(why),
                    .fix = {}});
}

Result<std::vector<aws::ObjectInfo>> Repository::list(const std::string& below) {
    std::vector<aws::ObjectInfo> all;
    std::string next;
    do {
        auto page = store_.list(key(below), 0, next, call());
        if (!page) return aws::to_error(page.error());
        for (aws::ObjectInfo& info : page->objects) {
            info.key.erase(0, settings_.prefix.size());
            all.push_back(std::move(info));
        }
        next = page->next;
    } while (!next.empty());
    return all;
}

std::optional<Error> Repository::remove(const Keys& names) {
    if (names.empty()) return std::nullopt;
    Keys keys;
    for (const std::string& name : names) keys.push_back(key(name));
    const auto failures = store_.remove(keys, call());
    if (!failures) return aws::to_error(failures.error());
    if (!failures->empty()) return aws::to_error(failures->front().error);
    return std::nullopt;
}

Result<std::optional<Manifest>> Repository::read(const std::string& name) {
    const auto text = store_.read(key(name), kLargestManifest, call());
    if (!text && text.error().fault == StoreFault::not_found) return std::optional<Manifest>();
    if (!text) return aws::to_error(text.error());
    auto manifest = read_manifest(*text, store_.name() + "/" + key(name));
    if (!manifest) return manifest.error();
    return std::optional<Manifest>(std::move(*manifest));
}

std::optional<Error> Repository::write(const std::string& name, const Manifest& manifest) {
    const std::string text = write_manifest(manifest);
    aws::PutOptions options;
    options.checksum = aws::checksum_of(kContentChecksum, text);
    const auto done = store_.put(key(name), text, options, call());
    if (!done) return aws::to_error(done.error());
    return std::nullopt;
}

Result<bool> Repository::write_if_absent(const std::string& name, const Manifest& manifest) {
    const std::string text = write_manifest(manifest);
    aws::PutOptions options;
    options.if_absent = true;
    options.checksum = aws::checksum_of(kContentChecksum, text);
    const auto done = store_.put(key(name), text, options, call());
    if (!done && done.error().fault == StoreFault::precondition_failed) return false;
    if (!done) return aws::to_error(done.error());
    return true;
}

bool Repository::is_dead(const Manifest& intent) {
    const sys::ProcessId process{intent.host, intent.boot, intent.pid, intent.start};
    if (!env_.may_be_alive(process)) return true;
    const double age = static_cast<double>(now() - intent.created);
    return process.host != env_.self().host && age * kSecond > settings_.lease;
}

/// The first free name for this content. A checkpoint that is already there ends the put.
Result<std::string> Repository::choose_id(const PutRequest& request, PutReport& report) {
    std::string content = request.attempt;
    if (content.empty()) {
        content = env_.self().host + "\n" + request.tree.root + "\n";
        for (const TreeFile& file : request.tree.files) {
            content += fmt::format("{}\n{}\n{}\n", file.path, file.size, file.modified_ns);
        }
    }
    const std::string base = fmt::format("{:012}-{:016x}", request.step,
                                         aws::checksum_of(kContentChecksum, content).value);
    constexpr int kMostRetries = 1000;
    for (int round = 1; round < kMostRetries; ++round) {
        std::string id = round == 1 ? base : fmt::format("{}-{}", base, round);
        auto trash = read("trash/" + id + ".jsonl");
        if (!trash) return trash.error();
        auto there = read("manifests/" + id + ".jsonl");
        if (!there) return there.error();
        if (!*trash && !*there) return id;
        if (*there && !*trash && (*there)->state == ManifestState::committed) {
            report.was_there = true;
            report.committed = true;
            return id;
        }
        if (request.nodes > 1) {
            return world(id, "this attempt was given up", "another process took it for dead",
                         "put again with a new --attempt on all nodes");
        }
    }
    return world(base, "no free name for this checkpoint", {}, "report this: it cannot happen");
}

std::optional<Error> Repository::claim(const Manifest& intent) {
    const std::string name = fmt::format("intents/{}/{}.jsonl", intent.id, intent.node);
    const auto fresh = write_if_absent(name, intent);
    if (!fresh) return fresh.error();
    if (*fresh) return std::nullopt;
    const auto old = read(name);
    // A torn one cannot be: it is what a writer left that never was one of ours.
    if (!old) return old.error();
    const bool is_mine = *old && (*old)->host == intent.host && (*old)->pid == intent.pid &&
                         (*old)->start == intent.start;
    if (*old && !is_mine && !is_dead(**old)) {
        return world(intent.id, "another process is putting this checkpoint",
                     fmt::format("process {} on {}", (*old)->pid, (*old)->host),
                     "wait for it, or end it");
    }
    return write(name, intent);
}

std::optional<Error> Repository::expect_objects(const Manifest& manifest) {
    std::map<std::string, std::map<std::string, std::uint64_t>> sizes;
    for (const StoredFile& file : manifest.files) {
        const std::string owner = file.object.substr(0, file.object.find('/', 5) + 1);
        const auto [at, is_new] = sizes.try_emplace(owner);
        if (is_new) {
            const auto objects = list(owner);
            if (!objects) return objects.error();
            for (const aws::ObjectInfo& info : *objects) at->second[info.key] = info.size;
        }
        const auto found = at->second.find(file.object);
        if (found == at->second.end() || found->second != file.size) {
            return world(
                store_.name() + "/" + key(file.object), "the store does not have what it accepted",
                found == at->second.end() ? "the object is missing" : "the object has another size",
                "nothing was committed: put again");
        }
    }
    return std::nullopt;
}

std::optional<Error> Repository::commit(Manifest manifest, PutReport& report) {
    if (auto error = expect_objects(manifest)) return error;
    manifest.state = ManifestState::committed;
    const std::string name = "manifests/" + manifest.id + ".jsonl";
    const auto fresh = write_if_absent(name, manifest);
    if (!fresh) return fresh.error();
    if (!*fresh) {
        // A lost answer, another node that was first, or one that gave up on us.
        const auto there = read(name);
        if (!there) return there.error();
        if (!*there || (*there)->state != ManifestState::committed ||
            (*there)->files != manifest.files) {
            return world(manifest.id, "this put was taken for dead and given up", {},
                         "put again; nothing was committed");
        }
    }
    report.committed = true;
    return std::nullopt;
}

std::optional<Error> Repository::commit_shards(const PutRequest& request, PutReport& report) {
    const auto names = list("shards/" + report.id + "/");
    if (!names) return names.error();
    report.nodes_there = static_cast<int>(names->size());
    if (report.nodes_there < request.nodes) return std::nullopt;
    Manifest whole;
    std::vector<Manifest> shards;
    for (const aws::ObjectInfo& info : *names) {
        auto shard = read(info.key);
        if (!shard) return shard.error();
        // Gone in between: another node has committed and cleaned up.
        if (!*shard) return std::nullopt;
        if ((*shard)->nodes != request.nodes || (*shard)->step != request.step) {
            return world(info.key, "its node disagrees about the step or the number of nodes", {},
                         "put with the same --step and --nodes everywhere");
        }
        shards.push_back(std::move(**shard));
    }
    std::sort(shards.begin(), shards.end(),
              [](const Manifest& a, const Manifest& b) { return a.node < b.node; });
    whole = shards.front();
    whole.node = 0;
    whole.files.clear();
    for (const Manifest& shard : shards) {
        whole.created = std::max(whole.created, shard.created);
        whole.files.insert(whole.files.end(), shard.files.begin(), shard.files.end());
    }
    std::stable_sort(whole.files.begin(), whole.files.end(),
                     [](const StoredFile& a, const StoredFile& b) { return a.path < b.path; });
    for (std::size_t i = 1; i < whole.files.size(); ++i) {
        const StoredFile& a = whole.files[i - 1];
        const StoredFile& b = whole.files[i];
        if (a.path != b.path) continue;
        if (a.size != b.size || a.checksum != b.checksum) {
            return world(
                a.path,
                fmt::format("nodes {} and {} have different files of this name", a.node, b.node),
                {}, "one directory for each node below the checkpoint, or one owner");
        }
    }
    const auto same = [](const StoredFile& a, const StoredFile& b) { return a.path == b.path; };
    whole.files.erase(std::unique(whole.files.begin(), whole.files.end(), same), whole.files.end());
    if (auto error = commit(std::move(whole), report)) return error;
    Keys done;
    for (const aws::ObjectInfo& info : *names) done.push_back(info.key);
    return remove(done);
}

/// A put that died, or failed, after its commit left its intent.
std::optional<Error> Repository::clean_after_commit(const std::string& own_intent) {
    const sys::ProcessId self = env_.self();
    const auto left = read(own_intent);
    if (!left) return left.error();
    const bool is_mine = *left && (*left)->host == self.host && (*left)->pid == self.pid &&
                         (*left)->start == self.start;
    if (is_mine) {
        if (auto error = remove({own_intent})) return error;
    }
    return sweep({});
}

Manifest Repository::intent_of(const PutRequest& request, const std::string& id) {
    const sys::ProcessId self = env_.self();
    Manifest intent{.state = ManifestState::intent,
                    .id = id,
                    .step = request.step,
                    .layout = request.layout,
                    .nodes = request.nodes,
                    .node = request.node,
                    .attempt = request.attempt,
                    .created = now(),
                    .created_by = settings_.created_by,
                    .owner = fmt::format("{}:{}", self.host, sys::parent_of(request.tree.root)),
                    .host = self.host,
                    .boot = self.boot,
                    .pid = self.pid,
                    .start = self.start,
                    .files = {}};
    for (const TreeFile& file : request.tree.files) {
        StoredFile planned;
        planned.path = file.path;
        planned.size = file.size;
        planned.object = fmt::format("data/{}/{}/{}", id, request.node, escape_path(file.path));
        planned.node = request.node;
        intent.files.push_back(std::move(planned));
    }
    return intent;
}

Result<PutReport> Repository::put(const PutRequest& request) {
    PutReport report;
    const std::int64_t begun = env_.steady_ns();
    const auto id = choose_id(request, report);
    if (!id) return id.error();
    report.id = *id;
    report.files = request.tree.files.size();
    report.bytes = request.tree.bytes;
    const std::string own_intent = fmt::format("intents/{}/{}.jsonl", *id, request.node);
    if (report.was_there) {
        if (auto error = clean_after_commit(own_intent)) return *error;
        return report;
    }
    const Manifest intent = intent_of(request, *id);
    if (auto error = claim(intent)) return *error;
    if (auto error = sweep(*id)) return *error;
    Sender sender(*this, request, intent, report);
    const std::int64_t sending = env_.steady_ns();
    meter_.begin(sending);
    auto files = sender.send(begun);
    const std::int64_t sent = env_.steady_ns();
    meter_.end(sent);
    if (!files) return files.error();
    const auto age = static_cast<double>(now() - intent.created) * kSecond;
    if (age > settings_.lease) {
        return world(*id, "this put took longer than its lease", {}, "put again: it resumes");
    }
    Manifest manifest = intent;
    manifest.files = std::move(*files);
    manifest.owner = manifest.host = manifest.boot = {};
    manifest.pid = 0;
    manifest.start = 0;
    if (request.nodes == 1) {
        if (auto error = commit(std::move(manifest), report)) return *error;
    } else {
        manifest.state = ManifestState::shard;
        const std::string name = fmt::format("shards/{}/{}.jsonl", *id, request.node);
        if (auto error = write(name, manifest)) return *error;
        if (auto error = commit_shards(request, report)) return *error;
    }
    const std::int64_t beside = sending - begun + env_.steady_ns() - sent;
    meter_.overhead(static_cast<double>(beside) / 1e9 * kSecond);
    if (auto error = remove({own_intent})) return *error;
    // What a prune could not take while this put was at work.
    const auto collected = collect_trash();
    if (!collected) return collected.error();
    return report;
}

Result<Inventory> Repository::inventory() {
    Inventory inventory;
    const auto names = list("manifests/");
    if (!names) return names.error();
    const auto stamps = list("verified/");
    if (!stamps) return stamps.error();
    std::set<std::string> verified;
    for (const aws::ObjectInfo& info : *stamps) verified.insert(id_of_name(info.key));
    std::set<std::string> ids;
    // Each costs a round trip or two: at once.
    std::vector<Result<std::optional<Manifest>>> manifests(names->size(),
                                                           std::optional<Manifest>());
    auto error = run_jobs(settings_.jobs, names->size(), [&](std::size_t i) {
        manifests[i] = read((*names)[i].key);
        return std::optional<Error>();
    });
    if (error) return *error;
    for (std::size_t i = 0; i < names->size(); ++i) {
        const std::string& name = (*names)[i].key;
        Result<std::optional<Manifest>>& manifest = manifests[i];
        ids.insert(id_of_name(name));
        if (!manifest && manifest.error().kind != ErrorKind::bad_input) return manifest.error();
        if (!manifest) {
            inventory.damaged.push_back(id_of_name(name));
        } else if (*manifest && (*manifest)->state == ManifestState::committed) {
            const bool is_verified = verified.contains((*manifest)->id);
            inventory.checkpoints.push_back({std::move(**manifest), is_verified});
        }
    }
    std::sort(inventory.checkpoints.begin(), inventory.checkpoints.end(),
              [](const Stored& a, const Stored& b) {
                  return std::tie(a.manifest.step, a.manifest.created, a.manifest.id) >
                         std::tie(b.manifest.step, b.manifest.created, b.manifest.id);
              });
    std::set<std::string> open;
    for (const char* below : {"intents/", "shards/"}) {
        const auto more = list(below);
        if (!more) return more.error();
        for (const aws::ObjectInfo& info : *more) {
            if (!ids.contains(id_of_name(info.key))) open.insert(id_of_name(info.key));
        }
    }
    inventory.unfinished = static_cast<int>(open.size());
    return inventory;
}

/// Takes the name by the conditional write that a commit would need, then deletes.
std::optional<Error> Repository::abandon(const std::string& id,
                                         const std::vector<Manifest>& intents) {
    const std::string name = "manifests/" + id + ".jsonl";
    auto there = read(name);
    if (!there) return there.error();
    if (!*there) {
        Manifest tombstone = intents.front();
        tombstone.state = ManifestState::aborted;
        tombstone.created = now();
        tombstone.files.clear();
        const auto fresh = write_if_absent(name, tombstone);
        if (!fresh) return fresh.error();
        if (!*fresh) there = read(name);
        if (!there) return there.error();
    }
    const bool is_committed = *there && (*there)->state == ManifestState::committed;
    const auto shards = list("shards/" + id + "/");
    if (!shards) return shards.error();
    if (!is_committed) {
        Keys data;
        const std::string own = "data/" + id + "/";
        const auto add = [&](const Manifest& plan) {
            for (const StoredFile& file : plan.files) {
                if (file.object.starts_with(own)) data.push_back(file.object);
            }
        };
        for (const Manifest& intent : intents) add(intent);
        for (const aws::ObjectInfo& info : *shards) {
            const auto shard = read(info.key);
            if (!shard) return shard.error();
            if (*shard) add(**shard);
        }
        if (auto error = remove(data)) return error;
    }
    Keys names;
    for (const aws::ObjectInfo& info : *shards) names.push_back(info.key);
    const auto open = list("intents/" + id + "/");
    if (!open) return open.error();
    for (const aws::ObjectInfo& info : *open) names.push_back(info.key);
    return remove(names);
}

std::optional<Error> Repository::sweep_uploads(const std::string& own_id) {
    const auto intents = list("intents/");
    if (!intents) return intents.error();
    std::set<std::string> live = {own_id};
    for (const aws::ObjectInfo& info : *intents) live.insert(id_of_name(info.key));
    std::string next;
    do {
        const auto page = store_.list_uploads(settings_.prefix, next, call());
        // Some servers cannot list uploads.
        if (!page && page.error().fault == StoreFault::invalid) return std::nullopt;
        if (!page) return aws::to_error(page.error());
        for (const aws::OpenUpload& open : page->uploads) {
            const std::string name = open.upload.key.substr(settings_.prefix.size());
            if (live.contains(id_of_name(name)) && name.starts_with("data/")) continue;
            if (now() - open.started.time_since_epoch().count() < kGrace) continue;
            const auto done = store_.abort_upload(open.upload, call());
            if (!done) return aws::to_error(done.error());
        }
        next = page->next;
    } while (!next.empty());
    return std::nullopt;
}

std::optional<Error> Repository::sweep(const std::string& own_id) {
    const auto names = list("intents/");
    if (!names) return names.error();
    std::map<std::string, std::vector<Manifest>> intents;
    for (const aws::ObjectInfo& info : *names) {
        auto intent = read(info.key);
        if (!intent) return intent.error();
        if (*intent) intents[id_of_name(info.key)].push_back(std::move(**intent));
    }
    for (const auto& [id, of_id] : intents) {
        const bool all_dead = std::all_of(of_id.begin(), of_id.end(),
                                          [&](const Manifest& intent) { return is_dead(intent); });
        if (id == own_id || !all_dead) continue;
        if (auto error = abandon(id, of_id)) return error;
    }
    if (auto error = sweep_uploads(own_id)) return error;
    const auto collected = collect_trash();
    if (!collected) return collected.error();
    return std::nullopt;
}

}  // namespace trainyard::store
