#include "trainyard/store/tree.hpp"

#include <algorithm>
#include <cerrno>

namespace trainyard::store {

namespace {

constexpr std::size_t kMaxEntries = 2'000'000;
constexpr int kMaxLevels = 32;

Error too_large(const std::string& path) {
    return bad_input(Diagnostic{.where = {path, 0, 0},
                                .what = "more than two million entries or 32 levels",
                                .why = "no checkpoint is like that",
                                .fix = "name the directory of one checkpoint"});
}

class Walk {
  public:
    Walk(sys::Env& env, Tree& tree) : env_(env), tree_(tree) {}

    std::optional<Error> directory(const std::string& relative, int level) {
        const std::string path = relative.empty() ? tree_.root : tree_.root + "/" + relative;
        const auto entries = env_.list(path);
        if (!entries) return failed(entries.error(), level);
        if (level > kMaxLevels) return too_large(tree_.root);
        for (const sys::DirectoryEntry& entry : *entries) {
            if (++entries_ > kMaxEntries) return too_large(tree_.root);
            const std::string below = relative.empty() ? entry.name : relative + "/" + entry.name;
            if (entry.kind == sys::FileKind::other) {
                tree_.skipped.push_back(below);
            } else if (entry.kind == sys::FileKind::directory) {
                if (auto error = directory(below, level + 1)) return error;
            } else if (auto error = file(below)) {
                return error;
            }
        }
        return std::nullopt;
    }

    std::optional<Error> file(const std::string& relative) {
        const auto status = env_.status(tree_.root + "/" + relative);
        if (!status) return failed(status.error(), 1);
        tree_.files.push_back({relative, status->size, status->modified_ns, status->inode});
        return std::nullopt;
    }

  private:
    /// What goes away while we look belongs to a checkpoint that is being deleted or replaced.
    std::optional<Error> failed(const sys::IoError& error, int level) {
        if (level > 0 && (error.code == ENOENT || error.code == ENOTDIR)) {
            tree_.vanished = true;
            return std::nullopt;
        }
        return error.as_error();
    }

    sys::Env& env_;
    Tree& tree_;
    std::size_t entries_ = 0;
};

}  // namespace

const TreeFile* Tree::find(std::string_view path) const {
    const auto at = std::lower_bound(
        files.begin(), files.end(), path,
        [](const TreeFile& file, std::string_view wanted) { return file.path < wanted; });
    return at != files.end() && at->path == path ? &*at : nullptr;
}

Result<Tree> read_tree(sys::Env& env, const std::string& path) {
    Tree tree;
    tree.root = path;
    while (tree.root.size() > 1 && tree.root.ends_with('/')) tree.root.pop_back();
    const auto status = env.status(tree.root);
    if (!status) return status.error().as_error();
    Walk walk(env, tree);
    std::optional<Error> error;
    if (status->kind == sys::FileKind::file) {
        const std::string name = tree.root.substr(tree.root.rfind('/') + 1);
        tree.root = sys::parent_of(tree.root);
        error = walk.file(name);
    } else {
        error = walk.directory("", 0);
    }
    if (error) return *error;
    std::sort(tree.files.begin(), tree.files.end(),
              [](const TreeFile& a, const TreeFile& b) { return a.path < b.path; });
    for (const TreeFile& file : tree.files) {
        tree.bytes += file.size;
        tree.newest_ns = std::max(tree.newest_ns, file.modified_ns);
    }
    return tree;
}

}  // namespace trainyard::store
