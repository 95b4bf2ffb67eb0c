#include "crash_world.hpp"

#include <fmt/format.h>

#include "memory_store.hpp"
#include "saboteur.hpp"

namespace trainyard::store::crash {

namespace {

constexpr std::uint64_t kPart = 64;

std::string bytes_of(std::int64_t step, std::size_t size) {
    std::string text;
    while (text.size() < size) text += fmt::format("step {} byte {};", step, text.size());
    text.resize(size);
    return text;
}

}  // namespace

struct World::Parts {
    Parts(std::uint64_t seed, Bug bug) : env(seed, bug) {}
    SabotagedEnv env;
    std::unique_ptr<aws::ObjectStore> inner;
    std::unique_ptr<aws::ObjectStore> store;
    std::vector<std::unique_ptr<aws::ObjectStore>> dead;  ///< a zombie may still hold one
    MemoryStore* memory = nullptr;
};

World::World(std::uint64_t seed, StoreKind kind, Bug bug)
    : parts_(std::make_unique<Parts>(seed, bug)), kind_(kind), bug_(bug) {
    if (kind == StoreKind::memory) {
        auto memory = std::make_unique<MemoryStore>(parts_->env, kPart);
        parts_->memory = memory.get();
        parts_->inner = std::move(memory);
    } else {
        parts_->inner = open_directory(parts_->env, "/store", kPart);
    }
    parts_->store = sabotaged(*parts_->inner, bug);
}

World::~World() = default;

sys::Faults& World::faults() { return parts_->env.faults; }
sys::Env& World::env() { return parts_->env; }
aws::ObjectStore& World::objects() { return *parts_->store; }

RepositorySettings World::settings() const {
    RepositorySettings settings;
    settings.jobs = 1;
    settings.part_size = kPart;
    return settings;
}

void World::save(std::int64_t step) {
    auto& files = saved_[step];
    files = {{"tokenizer.json", bytes_of(0, 50)},
             {"model.bin", bytes_of(step, 200)},
             {"rng/state", bytes_of(step, 20)},
             {"empty", ""}};
    for (const auto& [path, contents] : files) {
        parts_->env.put_file(fmt::format("/run/step_{}/{}", step, path), contents);
    }
}

Result<PutReport> World::put(std::int64_t step, int node, int nodes) {
    Repository repository(parts_->env, *parts_->store, settings());
    PutRequest request;
    auto tree = read_tree(parts_->env, fmt::format("/run/step_{}", step));
    if (!tree) return tree.error();
    request.tree = std::move(*tree);
    if (nodes > 1) {
        // Each node has its own half.
        std::vector<TreeFile> mine;
        for (std::size_t i = 0; i < request.tree.files.size(); ++i) {
            if (static_cast<int>(i) % nodes == node) mine.push_back(request.tree.files[i]);
        }
        request.tree.files = std::move(mine);
        request.attempt = "first";
    }
    request.step = step;
    request.node = node;
    request.nodes = nodes;
    auto report = repository.put(request);
    if (report && report->committed) {
        promised_.insert(step);
        doomed_.erase(step);
    }
    return report;
}

Result<PruneReport> World::prune(int keep_last) {
    // Whatever is older than the newest that are there may go from now on.
    const std::set<std::int64_t> there = visible();
    int newer = 0;
    for (auto at = there.rbegin(); at != there.rend(); ++at) {
        if (doomed_.contains(*at)) continue;
        if (++newer > keep_last) doomed_.insert(*at);
    }
    std::erase_if(promised_, [&](std::int64_t step) { return doomed_.contains(step); });
    PruneRules rules;
    rules.keep_last = keep_last;
    rules.keep_verified = 1;
    return Repository(parts_->env, *parts_->store, settings()).prune(rules);
}

Result<VerifyReport> World::verify_newest() {
    Repository repository(parts_->env, *parts_->store, settings());
    const auto inventory = repository.inventory();
    if (!inventory) return inventory.error();
    if (inventory->checkpoints.empty()) return VerifyReport{};
    return repository.verify(inventory->checkpoints.front().manifest.id);
}

void World::crash(bool power) {
    if (power) {
        parts_->env.lose_power();
    } else {
        parts_->env.end_process();
    }
    // What a saboteur had up its sleeve dies with the process.
    parts_->dead.push_back(std::move(parts_->store));
    parts_->store = sabotaged(*parts_->inner, bug_);
}

void World::wait_seconds(std::int64_t seconds) { parts_->env.sleep_ns(seconds * 1'000'000'000); }

std::map<std::string, std::string> World::raw() const {
    if (parts_->memory != nullptr) return parts_->memory->objects;
    std::map<std::string, std::string> objects;
    for (const auto& [path, contents] : parts_->env.files()) {
        if (path.starts_with("store/")) objects[path.substr(6)] = contents;
    }
    return objects;
}

std::set<std::int64_t> World::visible() const {
    std::set<std::int64_t> steps;
    for (const auto& [key, text] : raw()) {
        if (!key.starts_with("manifests/")) continue;
        const auto manifest = read_manifest(text, key);
        if (manifest && manifest->state == ManifestState::committed) steps.insert(manifest->step);
    }
    return steps;
}

std::string World::audit() {
    const auto objects = raw();
    std::set<std::int64_t> there;
    for (const auto& [key, text] : objects) {
        if (!key.starts_with("manifests/")) continue;
        const auto manifest = read_manifest(text, key);
        if (!manifest) return key + ": a torn manifest is visible";
        if (manifest->state == ManifestState::aborted) continue;
        if (manifest->state != ManifestState::committed) return key + ": a wrong state";
        std::map<std::string, std::string> restored;
        for (const StoredFile& file : manifest->files) {
            const auto found = objects.find(file.object);
            if (found == objects.end()) return key + ": " + file.object + " is missing";
            restored[file.path] = found->second;
            if (aws::checksum_of(kContentChecksum, found->second).value != file.checksum) {
                return key + ": " + file.object + " is damaged";
            }
        }
        if (restored != saved_[manifest->step]) return key + ": not what was saved, or a mix";
        there.insert(manifest->step);
    }
    for (const std::int64_t step : promised_) {
        if (!there.contains(step)) return fmt::format("step {} was committed and is lost", step);
    }
    // What a reader could see once must not go away by itself.
    for (const std::int64_t step : there) {
        if (!doomed_.contains(step)) promised_.insert(step);
    }
    return {};
}

std::string World::audit_orphans() {
    const auto objects = raw();
    std::set<std::string> named;
    for (const auto& [key, text] : objects) {
        if (!key.starts_with("manifests/")) continue;
        const auto manifest = read_manifest(text, key);
        if (!manifest) return key + ": torn";
        for (const StoredFile& file : manifest->files) named.insert(file.object);
    }
    for (const auto& [key, contents] : objects) {
        const bool is_fine =
            key.starts_with("manifests/") || key.starts_with("verified/") || named.contains(key);
        if (!is_fine) return key + ": left behind";
    }
    if (parts_->memory != nullptr && !parts_->memory->uploads.empty()) {
        return parts_->memory->uploads.begin()->second.key + ": its upload is left open";
    }
    return {};
}

std::string World::audit_restore() {
    GetRequest request;
    request.destination = fmt::format("/out_{}", ++restores_);
    const auto report = Repository(parts_->env, *parts_->store, settings()).get(request);
    if (promised_.empty()) return {};
    if (!report) return "restore failed: " + format(report.error().diagnostics);
    if (report->step < *promised_.rbegin()) {
        return fmt::format("step {} was restored, {} was committed", report->step,
                           *promised_.rbegin());
    }
    std::map<std::string, std::string> restored;
    const std::string prefix = request.destination.substr(1) + "/";
    for (const auto& [path, contents] : parts_->env.files()) {
        if (path.starts_with(prefix)) restored[path.substr(prefix.size())] = contents;
    }
    return restored == saved_[report->step] ? "" : "what was restored is not what was saved";
}

}  // namespace trainyard::store::crash
