// What is built on Env alone.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "trainyard/sys/env.hpp"

namespace trainyard::sys {

namespace {

std::string fix_of(int code) {
    switch (code) {
        case ENOENT:
        case ENOTDIR:
            return "check the path; it is relative to the current directory";
        case EACCES:
        case EPERM:
        case EROFS:
            return "check the permissions";
        case ENOSPC:
        case EDQUOT:
            return "free some space";
        default:
            return {};
    }
}

}  // namespace

Error IoError::as_error() const {
    return {ErrorKind::world,
            {{.where = {path, 0, 0},
              .what = fmt::format("{} failed", operation),
              .why = std::generic_category().message(code),
              .fix = fix_of(code)}}};
}

IoResult<std::string> read_whole(Env& env, const std::string& path, std::uint64_t max_bytes) {
    auto file = env.open(path);
    if (!file) return file.error();
    const auto status = (*file)->status();
    if (!status) return status.error();
    if (status->kind != FileKind::file) return IoError{EISDIR, path, "read"};
    if (status->size > max_bytes) return IoError{EFBIG, path, "read"};
    // One byte more than expected tells the end of the file from a file that grows.
    std::string text(status->size + 1, '\0');
    std::size_t filled = 0;
    while (true) {
        const auto n = (*file)->read_at(filled, {text.data() + filled, text.size() - filled});
        if (!n) return n.error();
        filled += *n;
        if (filled < text.size()) break;
        if (filled > max_bytes) return IoError{EFBIG, path, "read"};
        text.resize(2 * text.size());
    }
    text.resize(filled);
    return text;
}

IoDone make_directories(Env& env, const std::string& path) {
    IoDone made = env.make_directory(path);
    if (!made && made.error().code == EEXIST) return Done{};
    if (!made && made.error().code == ENOENT && parent_of(path) != path) {
        IoDone above = make_directories(env, parent_of(path));
        if (!above) return above;
        IoDone again = env.make_directory(path);
        if (!again && again.error().code != EEXIST) return again;
    } else if (!made) {
        return made;
    }
    return env.sync_directory(parent_of(path));
}

std::string parent_of(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return ".";
    return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

}  // namespace trainyard::sys
