// Credentials in plain text.

#include <algorithm>

#include "found.hpp"
#include "secrets.hpp"

namespace trainyard::lint::sec_secret {

namespace {

bool is_key_id(std::string_view text) {
    const std::size_t at = std::min(text.find("AKIA"), text.find("ASIA"));
    if (at == std::string_view::npos || text.size() < at + 20) return false;
    const std::string_view rest = text.substr(at, 20);
    if (rest.find("EXAMPLE") != std::string_view::npos) return false;
    return std::all_of(rest.begin(), rest.end(), [](char ch) {
        return (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
    });
}

/// Values that look like a real token: long, no placeholder.
bool is_token(std::string_view value) {
    if (value.size() < 20 || is_open(value) || contains(value, "your") ||
        contains(value, "example") || value.find_first_of(" /") != std::string_view::npos) {
        return false;
    }
    const auto kinds =
        static_cast<int>(value.find_first_of("0123456789") != std::string_view::npos) +
        static_cast<int>(value.find_first_of("abcdefghijklmnopqrstuvwxyz") !=
                         std::string_view::npos);
    return kinds == 2;
}

/// Any kind of file; a line that was found by its variable is not told twice.
void scan_texts(const Case& c, const std::vector<Location>& known, Found& found) {
    for (const Document& d : c.documents) {
        for (const Secret& s : secrets_in(d)) {
            const bool is_known = std::any_of(known.begin(), known.end(), [&](const Location& k) {
                return k.file == s.where.file && k.line == s.where.line;
            });
            if (!is_known) {
                found.at(Said{s.shown, s.where}, "this is " + std::string(s.kind));
            }
        }
    }
}

void judge(const EnvVar& v, std::vector<Location>& known, Found& found) {
    static constexpr std::string_view kNames[] = {"SECRET", "TOKEN", "PASSWORD", "API_KEY",
                                                  "APIKEY"};
    const bool is_named =
        std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view n) {
            return contains(v.name, n) && !contains(v.name, "FILE") && !contains(v.name, "PATH");
        });
    if (is_key_id(v.value.text) || (is_named && is_token(v.value.text))) {
        known.push_back(v.value.where);
        found.at(Said{v.name, v.value.where}, v.name + " holds a secret in plain text");
    }
}

void find(const Case& c, Found& found) {
    std::vector<Location> known;
    for (const Job& job : c.jobs) {
        for (const EnvVar& v : job.env) judge(v, known, found);
    }
    for (const Training& t : c.trainings) {
        for (const EnvVar& v : t.env) judge(v, known, found);
        for (const EnvVar& v : t.hyperparameters) judge(v, known, found);
    }
    for (const Document& d : c.documents) {
        for (const EnvVar& v : d.script.variables) judge(v, known, found);
    }
    scan_texts(c, known, found);
}

}  // namespace

Rule rule() {
    return {.id = "SEC-SECRET",
            .severity = Severity::warning,
            .title = "A secret in plain text",
            .applies = "every kind of file",
            .why =
                "whoever reads the file or describes the job has the key; a leaked AWS "
                "key is turned into GPU hours within minutes",
            .fix =
                "take it from a Kubernetes secret, Secrets Manager or the role, and "
                "revoke this one",
            .source = "AWS IAM documentation, access keys best practices",
            .find = find};
}

}  // namespace trainyard::lint::sec_secret
