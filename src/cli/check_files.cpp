#include "check_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trainyard/base/text.hpp"
#include "trainyard/sys/env.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

constexpr std::uint64_t kLargest = 4U << 20U;  ///< bytes; a file that a walk meets
constexpr std::size_t kMostFiles = 100'000;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// May hold a configuration: text endings, and names without an ending.
bool may_interest(std::string_view name) {
    if (is_one_of(name, {"package-lock.json", "yarn.lock", "composer.json", "package.json",
                         "tsconfig.json"})) {
        return false;
    }
    const std::size_t dot = name.rfind('.');
    if (name.starts_with("Dockerfile")) return true;
    if (dot == std::string_view::npos) return true;
    return is_one_of(name.substr(dot), {".yaml", ".yml", ".json", ".tf", ".tofu", ".py", ".sh",
                                        ".bash", ".sbatch", ".slurm", ".toml", ".txt", ".log",
                                        ".template", ".tpl", ".Dockerfile", ".j2"});
}

bool is_left_out(std::string_view name) {
    return (name.starts_with('.') && name != ".github") ||
           is_one_of(name, {"node_modules", "__pycache__", "venv", "site-packages", "vendor"});
}

bool is_text(std::string_view text) {
    return text.find('\0') == std::string_view::npos && is_valid_utf8(text);
}

class Walk {
  public:
    Result<CheckFiles> read(const std::vector<std::string>& paths) {
        for (const std::string& path : paths) {
            const auto status = env_.status(path);
            if (path != "-" && status && status->kind == sys::FileKind::directory) {
                walk(path, 0);
            } else if (auto failed = named(path)) {
                return *failed;
            }
            if (too_many_) {
                return Error{ErrorKind::world,
                             {{Severity::error,
                               {path, 0, 0},
                               fmt::format("more than {} files", kMostFiles),
                               "this is no repository of configurations",
                               "name the directory that holds them"}}};
            }
        }
        return std::move(files_);
    }

  private:
    std::optional<Error> named(const std::string& path) {
        auto text = sys::read_file(path);
        if (!text) return text.error();
        if (is_text(*text)) {
            files_.texts.push_back({path, *std::move(text), true});
            return std::nullopt;
        }
        const bool is_binary = text->find('\0') != std::string::npos;
        files_.diagnostics.push_back(
            {Severity::error,
             {path, 0, 0},
             is_binary ? "a binary file: it was not checked" : "not UTF-8: it was not checked",
             is_binary ? "it holds NUL bytes, or is text in UTF-16" : "",
             "save it as UTF-8, or leave it out"});
        return std::nullopt;
    }

    void walk(const std::string& directory, int depth) {
        auto entries = env_.list(directory);
        if (!entries || depth > 64) return;
        std::sort(entries->begin(), entries->end(),
                  [](const auto& a, const auto& b) { return a.name < b.name; });
        for (const sys::DirectoryEntry& e : *entries) {
            if (too_many_ || ++seen_ > kMostFiles) {
                too_many_ = true;
                return;
            }
            const std::string path =
                directory == "." ? e.name
                                 : directory + (directory.ends_with('/') ? "" : "/") + e.name;
            if (e.kind == sys::FileKind::directory) {
                if (!is_left_out(e.name)) walk(path, depth + 1);
            } else if (e.kind == sys::FileKind::file && may_interest(e.name)) {
                met(path);
            }
        }
    }

    void met(const std::string& path) {
        auto text = sys::read_whole(env_, path, kLargest);
        if (!text || !is_text(*text)) return;
        files_.texts.push_back({path, *std::move(text), false});
    }

    sys::Env& env_ = sys::real_env();
    CheckFiles files_;
    std::size_t seen_ = 0;
    bool too_many_ = false;
};

}  // namespace

Result<CheckFiles> read_check_files(const std::vector<std::string>& paths) {
    return Walk().read(paths);
}

}  // namespace trainyard::cli
