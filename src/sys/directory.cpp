#include "trainyard/sys/directory.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "trainyard/sys/environment.hpp"

namespace trainyard::sys {

namespace fs = std::filesystem;

namespace {

Error world(const std::string& path, std::string what, std::string why, std::string fix) {
    return {ErrorKind::world,
            {{.where = {path, 0, 0},
              .what = std::move(what),
              .why = std::move(why),
              .fix = std::move(fix)}}};
}

Error cannot_write(const std::string& path, const std::error_code& code) {
    return world(path, "the directory cannot be written", code.message(),
                 "check that the directory above it exists and is writable");
}

Result<std::size_t> write_into(const fs::path& root, const std::vector<NewFile>& files) {
    for (const NewFile& f : files) {
        const fs::path path = root / f.path;
        std::error_code code;
        fs::create_directories(path.parent_path(), code);
        if (code) return cannot_write(path.parent_path().string(), code);
        auto written = write_file(path.string(), f.contents);
        if (!written) return written.error();
        const auto runs = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
        fs::permissions(path, runs, f.executable ? fs::perm_options::add : fs::perm_options::remove,
                        code);
        if (code) return cannot_write(path.string(), code);
    }
    return files.size();
}

/// Why a file cannot take its place, asked before the first is written: a link would lead out of
/// the directory, and what it leads to is not ours to replace.
std::optional<Error> in_the_way(const fs::path& root, const std::vector<NewFile>& files) {
    for (const NewFile& f : files) {
        fs::path path = root;
        const fs::path relative(f.path);
        for (const fs::path& part : relative) {
            path /= part;
            std::error_code code;
            const fs::file_status status = fs::symlink_status(path, code);
            if (!fs::exists(status)) break;
            const bool last = path == root / relative;
            if (fs::is_symlink(status)) {
                return world(path.string(), "this is a link", "nothing was touched",
                             "remove it, or choose another directory");
            }
            if (last ? !fs::is_regular_file(status) : !fs::is_directory(status)) {
                return world(path.string(), last ? "this is no file" : "this is no directory",
                             "nothing was touched", "remove it, or choose another directory");
            }
        }
    }
    return std::nullopt;
}

/// Without a trailing '/', so that a name beside it can be made.
std::string bare(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

/// mkdtemp makes it private; the result has what a plain mkdir would have given.
void open_to_umask(const std::string& path) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::chmod(path.c_str(), 0777U & ~mask);
}

Result<std::size_t> write_new(const std::string& path, const std::vector<NewFile>& files) {
    std::string temporary = path + ".XXXXXX";
    if (::mkdtemp(temporary.data()) == nullptr)
        return cannot_write(path, {errno, std::generic_category()});
    auto written = write_into(temporary, files);
    std::error_code code;
    if (written) {
        open_to_umask(temporary);
        fs::rename(temporary, path, code);
        if (code) written = cannot_write(path, code);
    }
    if (!written) {
        std::error_code ignored;
        fs::remove_all(temporary, ignored);
    }
    return written;
}

}  // namespace

Result<std::size_t> write_directory(const std::string& path, const std::vector<NewFile>& files,
                                    Existing existing) {
    std::string target = bare(path);
    std::error_code code;
    if (fs::is_symlink(fs::symlink_status(target, code))) {
        const fs::path real = fs::canonical(target, code);
        if (code) return world(target, "the link leads nowhere", code.message(), "remove it");
        target = real.string();
    }
    const fs::file_status status = fs::status(target, code);
    if (!fs::exists(status)) return write_new(target, files);
    if (!fs::is_directory(status))
        return world(target, "this is no directory", {}, "name a directory, or a new name");
    const bool is_empty = fs::is_empty(target, code);
    if (code) return cannot_write(target, code);
    if (existing == Existing::replace && !is_empty) {
        if (auto error = in_the_way(target, files)) return *std::move(error);
        return write_into(target, files);
    }
    if (is_empty) return write_new(target, files);
    return world(target, "the directory is not empty", "nothing in it was touched",
                 "choose another one, or --force to replace files of the same name");
}

}  // namespace trainyard::sys
