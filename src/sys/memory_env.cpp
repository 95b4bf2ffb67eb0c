#include "trainyard/sys/memory_env.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace trainyard::sys {

struct MemoryEnv::Node {
    FileKind kind = FileKind::file;
    std::uint64_t inode = 0;
    std::int64_t modified_ns = 0;
    std::string contents;
    std::string synced;  ///< contents at the last sync
    std::map<std::string, std::shared_ptr<Node>> entries;
    std::map<std::string, std::shared_ptr<Node>> synced_entries;
};

namespace {

constexpr std::int64_t kCallNs = 1'000'000;  // each call takes a simulated millisecond
constexpr std::size_t kBlock = 4096;

}  // namespace

void Faults::arm(const Plan& plan) {
    plan_ = plan;
    calls_ = 0;
    dead_ = false;
    random_ = Random(plan.seed, 0);
}

Faults::Verdict Faults::next(std::string_view operation) {
    if (dead_) return Verdict::fail;
    if (watcher) watcher(operation);
    ++calls_;
    if (calls_ == plan_.at) {
        dead_ = plan_.kill;
        return plan_.after ? Verdict::fail_after : Verdict::fail;
    }
    if (plan_.rate > 0 && random_.uniform() < plan_.rate) {
        return random_.uniform() < 0.5 ? Verdict::fail : Verdict::fail_after;
    }
    return Verdict::go;
}

class MemoryFile : public File {
  public:
    MemoryFile(MemoryEnv& env, std::shared_ptr<MemoryEnv::Node> node, std::string path,
               bool writable)
        : env_(env), node_(std::move(node)), path_(std::move(path)), writable_(writable) {}

    IoResult<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
        std::size_t n = 0;
        const IoDone done = env_.guarded("read", path_, [&] {
            if (offset < node_->contents.size()) {
                n = node_->contents.copy(into.data(), into.size(), offset);
            }
            return 0;
        });
        if (!done) return done.error();
        return n;
    }
    IoDone write_at(std::uint64_t offset, std::string_view bytes) override {
        return env_.guarded("write", path_, [&] {
            if (!writable_) return EBADF;
            std::string& contents = node_->contents;
            contents.resize(std::max<std::size_t>(contents.size(), offset + bytes.size()));
            contents.replace(offset, bytes.size(), bytes);
            node_->modified_ns = env_.now_ns();
            return 0;
        });
    }
    IoDone sync() override {
        return env_.guarded("sync", path_, [&] {
            node_->synced = node_->contents;
            return 0;
        });
    }
    IoResult<FileStatus> status() override {
        const IoDone done = env_.guarded("status", path_, [] { return 0; });
        if (!done) return done.error();
        return FileStatus{.kind = node_->kind,
                          .size = node_->contents.size(),
                          .modified_ns = node_->modified_ns,
                          .inode = node_->inode};
    }

  private:
    MemoryEnv& env_;
    std::shared_ptr<MemoryEnv::Node> node_;
    std::string path_;
    bool writable_;
};

MemoryEnv::MemoryEnv(std::uint64_t seed) : root_(std::make_shared<Node>()), random_(seed, 0) {
    root_->kind = FileKind::directory;
}

MemoryEnv::~MemoryEnv() = default;

IoDone MemoryEnv::guarded(std::string_view operation, const std::string& path,
                          const std::function<int()>& effect) {
    const Faults::Verdict verdict = faults.next(operation);
    now_ns_ += kCallNs;
    int code = faults.code();
    if (verdict != Faults::Verdict::fail) {
        const int outcome = effect();
        if (outcome != 0) return IoError{outcome, path, std::string(operation)};
        if (verdict == Faults::Verdict::go) return Done{};
    }
    return IoError{code, path, std::string(operation)};
}

MemoryEnv::NodePtr MemoryEnv::find(const std::string& path) const {
    NodePtr node = root_;
    std::size_t at = 0;
    while (node && at < path.size()) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string name = path.substr(at, end - at);
        at = end + 1;
        if (name.empty() || name == ".") continue;
        const auto found = node->entries.find(name);
        node = found == node->entries.end() ? nullptr : found->second;
    }
    return node;
}

MemoryEnv::Place MemoryEnv::place_of(const std::string& path) const {
    NodePtr directory = find(parent_of(path));
    if (directory && directory->kind != FileKind::directory) directory = nullptr;
    return {std::move(directory), path.substr(path.rfind('/') + 1)};
}

IoResult<std::unique_ptr<File>> MemoryEnv::open_as(const std::string& path, bool writable) {
    NodePtr node;
    const IoDone done = guarded("open", path, [&] {
        node = find(path);
        if (!node) return ENOENT;
        return node->kind == FileKind::directory ? EISDIR : 0;
    });
    if (!done) return done.error();
    return std::unique_ptr<File>(std::make_unique<MemoryFile>(*this, node, path, writable));
}

IoResult<std::unique_ptr<File>> MemoryEnv::open(const std::string& path) {
    return open_as(path, false);
}
IoResult<std::unique_ptr<File>> MemoryEnv::open_to_write(const std::string& path) {
    return open_as(path, true);
}

IoResult<std::unique_ptr<File>> MemoryEnv::create(const std::string& path) {
    NodePtr node;
    const IoDone done = guarded("create", path, [&] {
        const Place place = place_of(path);
        if (!place.directory) return ENOENT;
        if (place.directory->entries.contains(place.name)) return EEXIST;
        node = std::make_shared<Node>();
        node->inode = next_inode_++;
        node->modified_ns = now_ns_;
        place.directory->entries[place.name] = node;
        return 0;
    });
    if (!done) return done.error();
    return std::unique_ptr<File>(std::make_unique<MemoryFile>(*this, node, path, true));
}

IoResult<FileStatus> MemoryEnv::status(const std::string& path) {
    FileStatus status;
    const IoDone done = guarded("status", path, [&] {
        const NodePtr node = find(path);
        if (!node) return ENOENT;
        status = {node->kind, node->contents.size(), node->modified_ns, node->inode};
        return 0;
    });
    if (!done) return done.error();
    return status;
}

IoResult<std::vector<DirectoryEntry>> MemoryEnv::list(const std::string& directory) {
    std::vector<DirectoryEntry> entries;
    const IoDone done = guarded("list", directory, [&] {
        const NodePtr node = find(directory);
        if (!node) return ENOENT;
        if (node->kind != FileKind::directory) return ENOTDIR;
        for (const auto& [name, entry] : node->entries) entries.push_back({name, entry->kind});
        return 0;
    });
    if (!done) return done.error();
    return entries;
}

IoDone MemoryEnv::make_directory(const std::string& path) {
    return guarded("make directory", path, [&] {
        if (find(path)) return EEXIST;
        const Place place = place_of(path);
        if (!place.directory) return ENOENT;
        const auto node = std::make_shared<Node>();
        node->kind = FileKind::directory;
        node->inode = next_inode_++;
        place.directory->entries[place.name] = node;
        return 0;
    });
}

IoDone MemoryEnv::rename(const std::string& from, const std::string& to) {
    return guarded("rename", to, [&] {
        const Place source = place_of(from);
        const Place target = place_of(to);
        const NodePtr node = find(from);
        if (!node || !target.directory) return ENOENT;
        const NodePtr old = find(to);
        if (old && old->kind == FileKind::directory && !old->entries.empty()) return ENOTEMPTY;
        source.directory->entries.erase(source.name);
        target.directory->entries[target.name] = node;
        return 0;
    });
}

IoDone MemoryEnv::link(const std::string& from, const std::string& to) {
    return guarded("link", to, [&] {
        const NodePtr node = find(from);
        const Place target = place_of(to);
        if (!node || !target.directory) return ENOENT;
        if (target.directory->entries.contains(target.name)) return EEXIST;
        target.directory->entries[target.name] = node;
        return 0;
    });
}

IoDone MemoryEnv::unlink(const std::string& path) {
    return guarded("unlink", path, [&] {
        const NodePtr node = find(path);
        if (!node) return ENOENT;
        if (node->kind == FileKind::directory) return EISDIR;
        const Place place = place_of(path);
        place.directory->entries.erase(place.name);
        return 0;
    });
}

IoDone MemoryEnv::remove_directory(const std::string& path) {
    return guarded("remove directory", path, [&] {
        const NodePtr node = find(path);
        if (!node) return ENOENT;
        if (node->kind != FileKind::directory) return ENOTDIR;
        if (!node->entries.empty()) return ENOTEMPTY;
        const Place place = place_of(path);
        place.directory->entries.erase(place.name);
        return 0;
    });
}

IoDone MemoryEnv::sync_directory(const std::string& path) {
    return guarded("sync directory", path, [&] {
        const NodePtr node = find(path);
        if (!node) return ENOENT;
        node->synced_entries = node->entries;
        return 0;
    });
}

std::int64_t MemoryEnv::now_ns() { return now_ns_; }
std::int64_t MemoryEnv::steady_ns() { return now_ns_; }
void MemoryEnv::sleep_ns(std::int64_t nanoseconds) { now_ns_ += nanoseconds; }
std::uint64_t MemoryEnv::random() { return random_.next(); }
ProcessId MemoryEnv::self() { return {.host = "memory", .boot = "1", .pid = pid_, .start = 1}; }
bool MemoryEnv::may_be_alive(const ProcessId& process) {
    return process.host != "memory" || process.pid == pid_;
}

void MemoryEnv::end_process() {
    ++pid_;
    faults.disarm();
}

void MemoryEnv::lose_contents(Node& file) {
    if (file.contents == file.synced) return;
    const std::uint64_t choice = random_.next() % 4;
    if (choice == 0) {
        file.contents = file.synced;
    } else if (choice != 1) {
        const std::string fresh = file.contents;
        const std::size_t longest = std::max(fresh.size(), file.synced.size());
        file.contents = file.synced;
        file.contents.resize(longest);
        for (std::size_t at = 0; at < fresh.size(); at += kBlock) {
            if (random_.next() % 2 == 0) continue;
            const std::string_view block = std::string_view(fresh).substr(at, kBlock);
            file.contents.replace(at, block.size(), block);
        }
        if (choice == 3) file.contents.resize(random_.next() % (longest + 1));
    }
    file.synced = file.contents;
}

void MemoryEnv::lose(Node& directory) {
    std::map<std::string, NodePtr> left = directory.synced_entries;
    for (const auto& [name, node] : directory.entries) {
        const auto old = left.find(name);
        const bool is_synced = old != left.end() && old->second == node;
        if (!is_synced && random_.next() % 2 == 0) left[name] = node;
    }
    for (const auto& [name, node] : directory.synced_entries) {
        if (!directory.entries.contains(name) && random_.next() % 2 == 0) left.erase(name);
    }
    directory.entries = left;
    directory.synced_entries = left;
    for (const auto& [name, node] : left) {
        if (node->kind == FileKind::directory) {
            lose(*node);
        } else {
            lose_contents(*node);
        }
    }
}

void MemoryEnv::lose_power() {
    lose(*root_);
    end_process();
}

void MemoryEnv::put_file(const std::string& path, std::string contents) {
    NodePtr node = root_;
    std::size_t at = 0;
    while (true) {
        const std::size_t end = path.find('/', at);
        const std::string name = path.substr(at, end == std::string::npos ? end : end - at);
        if (!name.empty()) {
            NodePtr& child = node->entries[name];
            if (!child || end == std::string::npos) {
                child = std::make_shared<Node>();
                child->inode = next_inode_++;
                child->kind = end == std::string::npos ? FileKind::file : FileKind::directory;
            }
            node->synced_entries[name] = child;
            node = child;
        }
        if (end == std::string::npos) break;
        at = end + 1;
    }
    node->contents = std::move(contents);
    node->synced = node->contents;
    node->modified_ns = now_ns_;
}

std::map<std::string, std::string> MemoryEnv::files() const {
    std::map<std::string, std::string> all;
    const std::function<void(const Node&, const std::string&)> walk = [&](const Node& directory,
                                                                          const std::string& path) {
        for (const auto& [name, node] : directory.entries) {
            std::string below = path.empty() ? name : path;
            if (!path.empty()) below.append("/").append(name);
            if (node->kind == FileKind::directory) {
                walk(*node, below);
            } else {
                all[below] = node->contents;
            }
        }
    };
    walk(*root_, "");
    return all;
}

}  // namespace trainyard::sys
