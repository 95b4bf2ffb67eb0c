// What is kept, and how the rest goes: the manifest first, so that nobody sees half a checkpoint;
// then, if no put is at work that might reuse them, the objects that no other manifest names.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trainyard/store/repository.hpp"

namespace trainyard::store {

namespace {

constexpr std::int64_t kTombstoneLife = std::int64_t{7} * 86400;  ///< s; far beyond any lease

std::string id_of(std::string_view name) {
    const std::size_t begin = name.find('/') + 1;
    return std::string(name.substr(begin, name.rfind('.') - begin));
}

/// Index by index, whether a rule keeps it. The newest always stays, and the newest verified ones.
std::vector<bool> kept_by(const PruneRules& rules, const std::vector<Stored>& newest_first,
                          std::int64_t now) {
    std::vector<bool> keep(newest_first.size(), false);
    int verified = 0;
    for (std::size_t i = 0; i < newest_first.size(); ++i) {
        const Stored& stored = newest_first[i];
        const Manifest& m = stored.manifest;
        const auto age = static_cast<double>(now - m.created) * kSecond;
        keep[i] = i == 0 || (rules.keep_last && static_cast<int>(i) < *rules.keep_last) ||
                  (rules.keep_within && age < *rules.keep_within) ||
                  (rules.keep_every && m.step % *rules.keep_every == 0);
        if (stored.verified && verified < rules.keep_verified) {
            keep[i] = true;
            ++verified;
        }
    }
    return keep;
}

}  // namespace

Result<PruneReport> Repository::prune(const PruneRules& rules) {
    if (!rules.dry_run) {
        if (auto error = sweep({})) return *error;
    }
    const auto inventory = this->inventory();
    if (!inventory) return inventory.error();
    PruneReport report;
    const std::vector<bool> keep = kept_by(rules, inventory->checkpoints, now());
    std::set<std::string> needed;
    for (std::size_t i = 0; i < keep.size(); ++i) {
        if (!keep[i]) continue;
        report.kept.push_back(inventory->checkpoints[i].manifest.id);
        for (const StoredFile& file : inventory->checkpoints[i].manifest.files) {
            needed.insert(file.object);
        }
    }
    std::set<std::string> counted;
    for (std::size_t i = keep.size(); i > 0; --i) {
        if (keep[i - 1]) continue;
        const Manifest& victim = inventory->checkpoints[i - 1].manifest;
        report.removed.push_back(victim.id);
        for (const StoredFile& file : victim.files) {
            const bool goes = !needed.contains(file.object) && counted.insert(file.object).second;
            report.freed += goes ? file.size : 0;
        }
        if (rules.dry_run) continue;
        if (auto error = write("trash/" + victim.id + ".jsonl", victim)) return *error;
        if (auto error = remove({"manifests/" + victim.id + ".jsonl"})) return *error;
    }
    if (rules.dry_run) return report;
    if (auto error = drop_tombstones()) return *error;
    const auto collected = collect_trash();
    if (!collected) return collected.error();
    report.deferred = !*collected;
    return report;
}

std::optional<Error> Repository::drop_tombstones() {
    const auto names = list("manifests/");
    if (!names) return names.error();
    for (const aws::ObjectInfo& info : *names) {
        const auto manifest = read(info.key);
        if (!manifest || !*manifest || (*manifest)->state != ManifestState::aborted) continue;
        if (now() - (*manifest)->created < kTombstoneLife) continue;
        if (auto error = remove({info.key})) return error;
    }
    return std::nullopt;
}

/// False: a put is at work, so that data stays for now. The order matters: manifests go first, then
/// the intents are read, then the manifests that are left. A put whose intent is not seen here
/// lists manifests later and so cannot reuse what goes.
Result<bool> Repository::collect_trash() {
    const auto trash = list("trash/");
    if (!trash) return trash.error();
    for (const aws::ObjectInfo& info : *trash) {
        // A prune that was killed between its two steps is finished, never undone.
        if (auto error = remove({"manifests/" + id_of(info.key) + ".jsonl"})) return *error;
    }
    if (trash->empty()) return true;
    const auto intents = list("intents/");
    if (!intents) return intents.error();
    if (!intents->empty()) return false;
    std::set<std::string> needed;
    for (const char* below : {"manifests/", "shards/"}) {
        const auto names = list(below);
        if (!names) return names.error();
        for (const aws::ObjectInfo& info : *names) {
            const auto manifest = read(info.key);
            // What cannot be read might name anything: nothing goes.
            if (!manifest)
                return manifest.error().kind == ErrorKind::bad_input
                           ? Result<bool>(false)
                           : Result<bool>(manifest.error());
            if (!*manifest) continue;
            if ((*manifest)->state == ManifestState::aborted) continue;
            for (const StoredFile& file : (*manifest)->files) needed.insert(file.object);
        }
    }
    for (const aws::ObjectInfo& info : *trash) {
        const auto victim = read(info.key);
        if (!victim) return victim.error();
        if (!*victim) continue;
        Keys gone;
        for (const StoredFile& file : (*victim)->files) {
            if (!needed.contains(file.object)) gone.push_back(file.object);
        }
        gone.push_back("verified/" + id_of(info.key) + ".jsonl");
        if (auto error = remove(gone)) return *error;
        if (auto error = remove({info.key})) return *error;
    }
    return true;
}

}  // namespace trainyard::store
