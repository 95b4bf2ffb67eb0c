// Restore and verification: the same reading, into files or into nothing.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>

#include "buffer_pool.hpp"
#include "trainyard/store/repository.hpp"

namespace trainyard::store {

namespace {

Error world(std::string where, std::string what, std::string why, std::string fix) {
    return {ErrorKind::world,
            {{.where = {std::move(where), 0, 0},
              .what = std::move(what),
              .why = std::move(why),
              .fix = std::move(fix)}}};
}

/// One part of one file.
struct Piece {
    std::size_t file = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::optional<aws::Checksum> expected;
};

/// Without checksums of parts the whole file is one piece.
std::vector<Piece> pieces_of(const std::vector<StoredFile>& files) {
    std::vector<Piece> pieces;
    for (std::size_t f = 0; f < files.size(); ++f) {
        const StoredFile& file = files[f];
        if (file.size == 0) continue;
        if (file.parts.empty()) {
            pieces.push_back({f, 0, file.size, aws::Checksum{kContentChecksum, file.checksum}});
            continue;
        }
        for (std::size_t i = 0; i < file.parts.size(); ++i) {
            const std::uint64_t offset = i * file.part_size;
            pieces.push_back({f, offset, std::min(file.part_size, file.size - offset),
                              aws::Checksum{kContentChecksum, file.parts[i]}});
        }
    }
    return pieces;
}

}  // namespace

class Receiver {
  public:
    Receiver(Repository& repository, const Manifest& manifest, bool sync = true)
        : r_(repository), m_(manifest), sync_(sync), pieces_(pieces_of(manifest.files)) {}

    /// Every byte against its checksum; what is wrong is collected, not fatal. An error: the store
    /// itself failed.
    Result<std::vector<std::string>> check() {
        std::vector<std::string> flaws;
        auto error =
            run_jobs(r_.settings_.jobs, pieces_.size(), [&](std::size_t i) -> std::optional<Error> {
                BufferPool::Lease buffer = buffers_.lease(pieces_[i].size);
                const auto got = fetch(pieces_[i], *buffer);
                if (got) return std::nullopt;
                if (!is_damage(got.error())) return aws::to_error(got.error());
                const std::scoped_lock lock(mutex_);
                flaws.push_back(fmt::format("{}: {}", path(pieces_[i]), got.error().what));
                return std::nullopt;
            });
        if (error) return *error;
        for (const StoredFile& file : m_.files) {
            if (file.size > 0) continue;
            const auto info = r_.store_.head(r_.key(file.object), r_.call());
            if (!info && !is_damage(info.error())) return aws::to_error(info.error());
            if (!info || info->size != 0) flaws.push_back(file.path + ": it is not empty any more");
        }
        std::sort(flaws.begin(), flaws.end());
        return flaws;
    }

    /// Into a directory that is there and empty, or holds what an interrupted restore left. A file
    /// is open from its first piece to its last: there may be more files than a process may open.
    std::optional<Error> receive(const std::string& directory, GetReport& report) {
        files_ = std::vector<Target>(m_.files.size());
        std::set<std::string> directories = {directory};
        for (const Piece& piece : pieces_) ++files_[piece.file].pieces_left;
        for (std::size_t i = 0; i < m_.files.size(); ++i) {
            files_[i].path = directory + "/" + m_.files[i].path;
            directories.insert(sys::parent_of(files_[i].path));
            if (files_[i].pieces_left > 0) continue;
            if (auto error = prepare(i)) return error;
            if (auto error = finish(files_[i])) return error;
        }
        auto error = run_jobs(r_.settings_.jobs, pieces_.size(),
                              [&](std::size_t i) { return receive_piece(pieces_[i], report); });
        if (error || !sync_) return error;
        for (const std::string& name : directories) {
            const auto synced = r_.env_.sync_directory(name);
            if (!synced) return synced.error().as_error();
        }
        return std::nullopt;
    }

    /// Whether the last failure says that the checkpoint is damaged, rather than the world.
    bool is_damaged() const { return is_damaged_; }

  private:
    struct Target {
        std::mutex mutex;  ///< of `file` being opened and closed
        std::mutex writing;
        std::string path;
        std::unique_ptr<sys::File> file;
        std::size_t pieces_left = 0;
        bool is_there = false;  ///< an interrupted restore has left it whole
    };

    static bool is_damage(const aws::StoreError& error) {
        return error.fault == aws::StoreFault::checksum ||
               error.fault == aws::StoreFault::not_found;
    }
    const std::string& path(const Piece& piece) const { return m_.files[piece.file].path; }

    aws::StoreResult<std::monostate> fetch(const Piece& piece, std::string& buffer) {
        return r_.store_.get(r_.key(m_.files[piece.file].object), piece.offset, buffer,
                             piece.expected, r_.call());
    }

    void advance(std::uint64_t bytes) {
        const std::scoped_lock lock(mutex_);
        done_ += bytes;
        if (r_.settings_.progress) r_.settings_.progress(done_, m_.bytes());
    }

    std::optional<Error> receive_piece(const Piece& piece, GetReport& report) {
        Target& target = files_[piece.file];
        {
            const std::scoped_lock lock(target.mutex);
            if (target.file == nullptr) {
                if (auto error = prepare(piece.file)) return error;
            }
        }
        if (!target.is_there) {
            BufferPool::Lease buffer = buffers_.lease(piece.size);
            const auto got = fetch(piece, *buffer);
            if (!got) {
                const std::scoped_lock lock(mutex_);
                is_damaged_ = is_damaged_ || is_damage(got.error());
                return aws::to_error(got.error());
            }
            // The kernel takes one writer of a file at a time; the others would spin.
            const std::scoped_lock lock(target.writing);
            const auto written = target.file->write_at(piece.offset, *buffer);
            if (!written) return written.error().as_error();
        }
        {
            const std::scoped_lock lock(mutex_);
            if (!target.is_there) report.received += piece.size;
        }
        advance(piece.size);
        const std::scoped_lock lock(target.mutex);
        return --target.pieces_left == 0 ? finish(target) : std::nullopt;
    }

    std::optional<Error> finish(Target& target) const {
        const auto synced = sync_ ? target.file->sync() : sys::Done{};
        target.file.reset();
        if (!synced) return synced.error().as_error();
        return std::nullopt;
    }

    /// Opens or makes the file; keeps it if it already has the right bytes.
    std::optional<Error> prepare(std::size_t index) {
        const StoredFile& stored = m_.files[index];
        Target& target = files_[index];
        auto made = r_.env_.create(target.path);
        if (!made && made.error().code == ENOENT) {
            const auto parents = sys::make_directories(r_.env_, sys::parent_of(target.path));
            if (!parents) return parents.error().as_error();
            made = r_.env_.create(target.path);
        }
        if (!made && made.error().code != EEXIST) return made.error().as_error();
        if (!made) {
            made = r_.env_.open_to_write(target.path);
            if (!made) return made.error().as_error();
            const auto status = (*made)->status();
            if (!status) return status.error().as_error();
            target.is_there = status->size == stored.size && has_bytes(**made, stored);
            if (!target.is_there && status->size > stored.size) {
                made->reset();
                const auto gone = r_.env_.unlink(target.path);
                if (!gone) return gone.error().as_error();
                made = r_.env_.create(target.path);
                if (!made) return made.error().as_error();
            }
        }
        target.file = std::move(*made);
        return std::nullopt;
    }

    bool has_bytes(sys::File& file, const StoredFile& stored) const {
        aws::Checksum sum = aws::empty_checksum(kContentChecksum);
        std::string buffer;
        for (std::uint64_t at = 0; at < stored.size; at += buffer.size()) {
            buffer.resize(std::min(r_.settings_.part_size, stored.size - at));
            const auto n = file.read_at(at, buffer);
            if (!n || *n != buffer.size()) return false;
            sum = aws::continue_checksum(sum, buffer);
        }
        return sum.value == stored.checksum;
    }

    Repository& r_;
    const Manifest& m_;
    bool sync_;
    std::vector<Piece> pieces_;
    std::vector<Target> files_;
    BufferPool buffers_;
    std::mutex mutex_;
    std::uint64_t done_ = 0;
    bool is_damaged_ = false;
};

Result<VerifyReport> Repository::verify(const std::string& id) {
    const auto manifest = read("manifests/" + id + ".jsonl");
    if (!manifest) return manifest.error();
    if (!*manifest || (*manifest)->state != ManifestState::committed) {
        return world(store_.name(), fmt::format("there is no checkpoint \"{}\"", id), {},
                     "trainyard store ls lists them");
    }
    VerifyReport report;
    report.id = id;
    report.files = (*manifest)->files.size();
    report.bytes = (*manifest)->bytes();
    auto flaws = Receiver(*this, **manifest).check();
    if (!flaws) return flaws.error();
    report.flaws = std::move(*flaws);
    const std::string stamp = "verified/" + id + ".jsonl";
    if (!report.flaws.empty()) {
        if (auto error = remove({stamp})) return *error;
        return report;
    }
    Manifest sound = **manifest;
    sound.files.clear();
    sound.created = now();
    if (auto error = write(stamp, sound)) return *error;
    return report;
}

Result<GetReport> Repository::get(const GetRequest& request) {
    const auto there = env_.list(request.destination);
    if (there && !there->empty()) {
        return bad_input(Diagnostic{.where = {request.destination, 0, 0},
                                    .what = "the directory is not empty",
                                    .why = "a restore never mixes with what is there",
                                    .fix = "name one that does not exist"});
    }
    if (!there && there.error().code != ENOENT) return there.error().as_error();
    auto inventory = this->inventory();
    if (!inventory) return inventory.error();
    for (const std::string& id : inventory->damaged) {
        warn("manifests/" + id, "the manifest is damaged: this checkpoint is passed over", {});
    }
    GetReport report;
    report.skipped = static_cast<int>(inventory->damaged.size());
    std::string last_flaw = inventory->checkpoints.empty() ? "the store holds no checkpoint" : "";
    for (const Stored& stored : inventory->checkpoints) {
        const Manifest& m = stored.manifest;
        if (request.step && m.step != *request.step) continue;
        const std::string partial = fmt::format("{}.partial-{}", request.destination, m.id);
        if (const auto made = sys::make_directories(env_, partial); !made) {
            return made.error().as_error();
        }
        Receiver receiver(*this, m, request.sync);
        const auto error = receiver.receive(partial, report);
        if (error && !receiver.is_damaged()) return *error;
        if (error) {
            last_flaw = error->diagnostics.front().what;
            warn(m.id, fmt::format("step {} is damaged: falling back to the one before", m.step),
                 last_flaw);
            ++report.skipped;
            continue;
        }
        if (there) {
            const auto gone = env_.remove_directory(request.destination);
            if (!gone) return gone.error().as_error();
        }
        const auto named = env_.rename(partial, request.destination);
        if (!named) return named.error().as_error();
        const auto synced =
            request.sync ? env_.sync_directory(sys::parent_of(request.destination)) : sys::Done{};
        if (!synced) return synced.error().as_error();
        report.id = m.id;
        report.step = m.step;
        report.files = m.files.size();
        report.bytes = m.bytes();
        return report;
    }
    if (last_flaw.empty()) last_flaw = "no checkpoint of that step";
    return world(store_.name(), "nothing to restore", last_flaw,
                 "trainyard store ls shows what is there");
}

}  // namespace trainyard::store
