#include "trainyard/render/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trainyard/base/text.hpp"

namespace trainyard::render {

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Error bad_option(std::string what, std::string why, std::string fix) {
    return bad_input({.where = {"trainyard render", 0, 0},
                      .what = std::move(what),
                      .why = std::move(why),
                      .fix = std::move(fix)});
}

/// S3 bucket naming rules (docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html).
bool is_bucket(std::string_view s) {
    if (s.size() < 3 || s.size() > 63 || s.find("..") != std::string_view::npos) return false;
    const auto edge = [](char c) { return is_lower(c) || is_digit(c); };
    return edge(s.front()) && edge(s.back()) &&
           std::all_of(s.begin(), s.end(), [&](char c) { return edge(c) || c == '-' || c == '.'; });
}

bool is_printable_ascii(std::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

std::string legal_name(const NameRule& rule, std::string_view wish) {
    std::string name;
    for (char c : wish) {
        const char lower = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
        const char next = is_upper(c) && rule.upper_case ? c : lower;
        const bool kept = is_lower(lower) || is_digit(lower);
        if (kept) name += next;
        if (!kept && !name.empty() && name.back() != '-') name += '-';
    }
    while (!name.empty() && name.back() == '-') name.pop_back();
    if (name.empty()) name = "training";
    if (is_digit(name.front())) name.insert(0, "job-");
    if (name.size() <= rule.longest) return name;
    const std::string mark = "-" + sha256(std::string(wish)).substr(0, 8);
    name.resize(rule.longest - mark.size());
    while (name.back() == '-') name.pop_back();
    return name + mark;
}

std::optional<std::string> broken_name(const NameRule& rule, std::string_view name) {
    if (name.empty() || name.size() > rule.longest)
        return fmt::format("{} has 1 to {} characters", rule.what, rule.longest);
    const auto letter = [&rule](char c) { return is_lower(c) || (rule.upper_case && is_upper(c)); };
    if (!letter(name.front())) return fmt::format("{} begins with a letter", rule.what);
    const bool known = std::all_of(name.begin(), name.end(),
                                   [&](char c) { return letter(c) || is_digit(c) || c == '-'; });
    if (!known) {
        return fmt::format("{} holds only {}, 0-9 and '-'", rule.what,
                           rule.upper_case ? "letters" : "a-z");
    }
    if (name.back() == '-' || name.find("--") != std::string_view::npos)
        return fmt::format("in {} each '-' stands between letters or digits", rule.what);
    return std::nullopt;
}

Result<std::string> job_name(const NameRule& rule, const Recipe& recipe, const Options& options) {
    if (!options.job_name) return legal_name(rule, recipe.name);
    if (auto broken = broken_name(rule, *options.job_name)) {
        return bad_option("--job-name: \"" + printable(*options.job_name, 100) + "\" is not legal",
                          *broken + " (" + std::string(rule.source) + ")",
                          "--job-name " + legal_name(rule, *options.job_name));
    }
    return *options.job_name;
}

std::string S3Address::text() const {
    return "s3://" + bucket + (prefix.empty() ? "" : "/" + prefix);
}

Result<S3Address> parse_s3(std::string_view address) {
    constexpr std::string_view kScheme = "s3://";
    const auto bad = [address](std::string why) {
        return bad_option("--checkpoint: \"" + printable(address, 100) + "\" is not an S3 address",
                          std::move(why), "write s3://bucket/prefix");
    };
    if (!address.starts_with(kScheme)) return bad("it does not begin with s3://");
    address.remove_prefix(kScheme.size());
    const std::size_t slash = std::min(address.find('/'), address.size());
    S3Address a{std::string(address.substr(0, slash)), std::string(address.substr(slash))};
    if (!is_bucket(a.bucket))
        return bad(
            "a bucket name has 3 to 63 of a-z, 0-9, '-' and '.', a letter or digit at both "
            "ends");
    while (a.prefix.starts_with('/')) a.prefix.erase(0, 1);
    while (a.prefix.ends_with('/')) a.prefix.pop_back();
    if (a.prefix.size() > 800) return bad("the prefix is longer than 800 bytes");
    if (!is_printable_ascii(a.prefix) || a.prefix.find("//") != std::string::npos)
        return bad(
            "the prefix holds a space, a control character, a character outside ASCII or //");
    return a;
}

Result<S3Address> checkpoint_address(const Options& options, std::string_view job) {
    if (options.checkpoint) return parse_s3(*options.checkpoint);
    return S3Address{"fill-in-checkpoint-bucket", std::string(job)};
}

}  // namespace trainyard::render
