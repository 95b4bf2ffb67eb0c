#include "secrets.hpp"

#include <algorithm>
#include <cctype>

#include "said.hpp"

namespace trainyard::lint {

namespace {

struct Form {
    std::string_view start;
    std::size_t length;  ///< of what follows, at least
    std::string_view kind;
    bool upper_only;
};
constexpr Form kForms[] = {{"AKIA", 16, "an AWS access key id", true},
                           {"ASIA", 16, "a temporary AWS access key id", true},
                           {"hf_", 30, "a Hugging Face token", false},
                           {"ghp_", 36, "a GitHub token", false},
                           {"github_pat_", 40, "a GitHub token", false},
                           {"xoxb-", 20, "a Slack token", false},
                           {"nvapi-", 40, "an NVIDIA API key", false},
                           {"-----BEGIN RSA PRIVATE KEY", 0, "a private key", false},
                           {"-----BEGIN OPENSSH PRIVATE KEY", 0, "a private key", false},
                           {"-----BEGIN PRIVATE KEY", 0, "a private key", false}};
constexpr std::string_view kNamed[] = {
    "WANDB_API_KEY",         "wandb login", "aws_secret_access_key",
    "AWS_SECRET_ACCESS_KEY", "secret_key",  "aws_secret_key"};
constexpr std::size_t kHeld = 40;  ///< characters of a W&B key and of an AWS secret key

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool is_secret_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '+';
}

/// Not "xxxx…", "0000…", "AKIAEXAMPLE…": a real one has many different characters.
bool is_varied(std::string_view s) {
    std::vector<char> seen(s.begin(), s.end());
    std::sort(seen.begin(), seen.end());
    const auto different = std::unique(seen.begin(), seen.end()) - seen.begin();
    return different >= 8 && !contains(s, "EXAMPLE") && !contains(s, "XXXX") &&
           !contains(s, "your");
}

std::size_t run_of(std::string_view text, bool upper_only) {
    std::size_t n = 0;
    while (n < text.size() &&
           (upper_only ? std::isupper(static_cast<unsigned char>(text[n])) != 0 ||
                             std::isdigit(static_cast<unsigned char>(text[n])) != 0
                       : is_word(text[n]))) {
        ++n;
    }
    return n;
}

void scan_forms(std::string_view line, const Location& at, std::vector<Secret>& into) {
    for (const Form& f : kForms) {
        const std::size_t found = line.find(f.start);
        if (found == std::string_view::npos || (found > 0 && is_word(line[found - 1]))) continue;
        const std::string_view rest = line.substr(found + f.start.size());
        const std::size_t n = run_of(rest, f.upper_only);
        if (n < f.length || (f.upper_only && n != f.length)) continue;
        if (f.length > 0 && !is_varied(rest.substr(0, n))) continue;
        into.push_back(
            {{at.file, at.line, static_cast<int>(found) + 1}, f.kind, std::string(f.start) + "…"});
    }
}

/// NAME = "40 characters".
void scan_named(std::string_view line, const Location& at, std::vector<Secret>& into) {
    for (const std::string_view name : kNamed) {
        const std::size_t found = line.find(name);
        if (found == std::string_view::npos) continue;
        std::size_t i = found + name.size();
        while (i < line.size() &&
               std::string_view(" \t=:\"'").find(line[i]) != std::string_view::npos) {
            ++i;
        }
        std::size_t end = i;
        while (end < line.size() && is_secret_char(line[end])) ++end;
        const std::string_view value = line.substr(i, end - i);
        if (value.size() != kHeld || !is_varied(value)) continue;
        into.push_back({{at.file, at.line, static_cast<int>(found) + 1},
                        contains(name, "wandb") ? "a W&B API key" : "an AWS secret access key",
                        std::string(name)});
        return;
    }
}

}  // namespace

std::vector<Secret> secrets_in(const Document& d) {
    std::vector<Secret> all;
    if (d.kind == Kind::nccl_log) return all;
    std::string_view text = d.text;
    for (Location at{d.source->path, d.line, 1}; !text.empty(); ++at.line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        scan_forms(line, at, all);
        scan_named(line, at, all);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

}  // namespace trainyard::lint
