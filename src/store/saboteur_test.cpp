#include "saboteur.hpp"

#include <algorithm>

namespace trainyard::store::crash {

using namespace aws;

namespace {

bool is_in(const std::string& key, std::string_view folder) { return key.starts_with(folder); }

class Saboteur : public ObjectStore {
  public:
    Saboteur(ObjectStore& inner, Bug bug) : inner_(inner), bug_(bug) {}

    std::string name() const override { return inner_.name(); }
    StoreLimits limits() const override { return inner_.limits(); }

    StoreResult<ObjectVersion> put(const std::string& key, std::string_view body,
                                   const PutOptions& options, const Call& call) override {
        PutOptions changed = options;
        const bool is_data = is_in(key, "data/");
        const bool is_manifest = is_in(key, "manifests/");
        const bool is_late = bug_ == Bug::manifest_first || bug_ == Bug::data_listed_before_sent;
        if (is_data && is_late) {
            late_.emplace_back(key, body);
            return ObjectVersion{"etag", options.checksum};
        }
        if (is_data && bug_ == Bug::put_truncated && !body.empty()) {
            changed.checksum = {};
            return inner_.put(key, body.substr(0, body.size() - 1), changed, call);
        }
        if (bug_ == Bug::unconditional_commit) changed.if_absent = false;
        const bool is_tombstone = body.find("\"state\":\"aborted\"") != std::string_view::npos;
        if ((is_in(key, "intents/") && bug_ == Bug::no_intent) ||
            (is_in(key, "trash/") && bug_ == Bug::no_trash) ||
            (is_tombstone && bug_ == Bug::no_tombstone) ||
            (is_manifest && !is_tombstone && bug_ == Bug::commit_without_write)) {
            return ObjectVersion{"etag", options.checksum};
        }
        if (is_manifest && bug_ == Bug::manifest_torn) {
            const auto half = inner_.put(key, body.substr(0, body.size() / 2), {}, call);
            if (!half) return half;
            changed.if_absent = false;
        }
        auto done = inner_.put(key, body, changed, call);
        if (done && is_manifest && bug_ == Bug::manifest_first) flush(call);
        return done;
    }
    StoreResult<Upload> create_upload(const std::string& key, ChecksumAlgorithm algorithm,
                                      const Call& call) override {
        return inner_.create_upload(key, algorithm, call);
    }
    StoreResult<Part> put_part(const Upload& upload, int number, std::string_view body,
                               Checksum checksum, const Call& call) override {
        if (bug_ == Bug::part_lost && number == 2) {
            return Part{number, body.size(), "etag", checksum};
        }
        std::string changed(body);
        if (bug_ == Bug::part_damaged) changed[0] = static_cast<char>(changed[0] ^ 1);
        return inner_.put_part(upload, number, changed, checksum, call);
    }
    StoreResult<ObjectVersion> complete_upload(const Upload& upload, const std::vector<Part>& parts,
                                               const CompleteOptions& options,
                                               const Call& call) override {
        return inner_.complete_upload(upload, parts, options, call);
    }
    StoreResult<std::monostate> abort_upload(const Upload& upload, const Call& call) override {
        if (bug_ == Bug::abort_does_nothing) return std::monostate{};
        return inner_.abort_upload(upload, call);
    }
    StoreResult<PartListing> list_parts(const Upload& upload, const std::string& next,
                                        const Call& call) override {
        return inner_.list_parts(upload, next, call);
    }
    StoreResult<UploadListing> list_uploads(const std::string& prefix, const std::string& next,
                                            const Call& call) override {
        if (bug_ == Bug::uploads_not_listed) return UploadListing{};
        return inner_.list_uploads(prefix, next, call);
    }
    StoreResult<ObjectInfo> head(const std::string& key, const Call& call) override {
        return inner_.head(key, call);
    }
    StoreResult<std::monostate> get(const std::string& key, std::uint64_t offset,
                                    std::span<char> into, const std::optional<Checksum>& expected,
                                    const Call& call) override {
        return inner_.get(key, offset, into, expected, call);
    }
    StoreResult<std::string> read(const std::string& key, std::size_t max_size,
                                  const Call& call) override {
        return inner_.read(key, max_size, call);
    }
    StoreResult<Listing> list(const std::string& prefix, char delimiter, const std::string& next,
                              const Call& call) override {
        if ((prefix == "intents/" && bug_ == Bug::intents_not_listed) ||
            (prefix == "trash/" && bug_ == Bug::trash_not_listed)) {
            return Listing{};
        }
        auto page = inner_.list(prefix, delimiter, next, call);
        if (!page) return page;
        for (const auto& [key, body] : late_) {
            if (!key.starts_with(prefix) || !next.empty()) continue;
            ObjectInfo info;
            info.key = key;
            info.size = body.size();
            page->objects.push_back(std::move(info));
        }
        std::erase_if(page->objects,
                      [&](const ObjectInfo& info) { return info.key == postponed_; });
        if (prefix == "manifests/" && bug_ == Bug::stale_manifest_list && page->next.empty() &&
            !page->objects.empty()) {
            page->objects.pop_back();
        }
        return page;
    }
    StoreResult<std::vector<RemoveFailure>> remove(const std::vector<std::string>& keys,
                                                   const Call& call) override {
        std::vector<std::string> changed = keys;
        if (bug_ == Bug::remove_nothing) return std::vector<RemoveFailure>{};
        if (bug_ == Bug::data_listed_before_sent && is_in(keys.front(), "intents/")) flush(call);
        if (bug_ == Bug::data_before_manifest && is_in(keys.front(), "manifests/")) {
            postponed_ = keys.front();
            return std::vector<RemoveFailure>{};
        }
        if (bug_ == Bug::remove_too_much && is_in(keys.front(), "data/")) {
            const std::string id = keys.front().substr(0, keys.front().find('/', 5));
            const auto all = inner_.list(id, 0, {}, call);
            for (std::size_t i = 0; all && i < all->objects.size(); ++i) {
                changed.push_back(all->objects[i].key);
            }
        }
        auto done = inner_.remove(changed, call);
        if (done && !postponed_.empty() && is_in(keys.front(), "data/")) {
            const std::string manifest = postponed_;
            postponed_.clear();
            return inner_.remove({manifest}, call);
        }
        return done;
    }

  private:
    void flush(const Call& call) {
        for (const auto& [key, body] : late_) static_cast<void>(inner_.put(key, body, {}, call));
        late_.clear();
    }
    ObjectStore& inner_;
    Bug bug_;
    std::vector<std::pair<std::string, std::string>> late_;
    std::string postponed_;  ///< a manifest whose removal waits for its data
};

class UnsyncedFile : public sys::File {
  public:
    explicit UnsyncedFile(std::unique_ptr<sys::File> inner) : inner_(std::move(inner)) {}
    sys::IoResult<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
        return inner_->read_at(offset, into);
    }
    sys::IoDone write_at(std::uint64_t offset, std::string_view bytes) override {
        return inner_->write_at(offset, bytes);
    }
    sys::IoDone sync() override { return sys::Done{}; }
    sys::IoResult<sys::FileStatus> status() override { return inner_->status(); }

  private:
    std::unique_ptr<sys::File> inner_;
};

}  // namespace

std::unique_ptr<ObjectStore> sabotaged(ObjectStore& inner, Bug bug) {
    return std::make_unique<Saboteur>(inner, bug);
}

sys::IoResult<std::unique_ptr<sys::File>> SabotagedEnv::unsynced(
    sys::IoResult<std::unique_ptr<sys::File>> file) {
    if (!file || bug_ != Bug::no_file_sync) return file;
    return std::unique_ptr<sys::File>(std::make_unique<UnsyncedFile>(std::move(*file)));
}
sys::IoResult<std::unique_ptr<sys::File>> SabotagedEnv::create(const std::string& path) {
    return unsynced(MemoryEnv::create(path));
}
sys::IoResult<std::unique_ptr<sys::File>> SabotagedEnv::open_to_write(const std::string& path) {
    return unsynced(MemoryEnv::open_to_write(path));
}
sys::IoDone SabotagedEnv::sync_directory(const std::string& path) {
    if (bug_ == Bug::no_directory_sync) return sys::Done{};
    return MemoryEnv::sync_directory(path);
}

}  // namespace trainyard::store::crash
