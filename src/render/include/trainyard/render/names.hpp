#pragma once
// Names as each service allows them. A name that the user typed must be legal as it is; a name that
// the plan carries is made legal.

#include <optional>
#include <string>
#include <string_view>

#include "trainyard/base/result.hpp"
#include "trainyard/render/recipe.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

/// What a service accepts: the longest name, and the characters besides a-z and 0-9. Every name
/// begins with a letter, and neither ends with '-' nor holds two of them in a row, which all
/// accept.
struct NameRule {
    std::string_view what;  ///< "a ParallelCluster cluster name"
    std::size_t longest = 63;
    bool upper_case = false;
    std::string_view source;
};

/// `wish` made legal: lower case, '-' for whatever is not allowed, cut with eight digits of its
/// hash at the end, so that two long names stay two. Never empty.
std::string legal_name(const NameRule& rule, std::string_view wish);
/// The rule that `name` breaks, in words; nullopt if it is legal.
std::optional<std::string> broken_name(const NameRule& rule, std::string_view name);
/// --job-name if given (refused where the rule forbids it), else the plan's name made legal.
Result<std::string> job_name(const NameRule& rule, const Recipe& recipe, const Options& options);

/// "s3://bucket/prefix" in its parts; the prefix has no leading or trailing '/'.
struct S3Address {
    std::string bucket;
    std::string prefix;
    std::string text() const;  ///< "s3://bucket/prefix", without a trailing '/'
};
/// Bucket names by the S3 rules; a prefix of printable characters, at most 800 bytes.
Result<S3Address> parse_s3(std::string_view address);
/// --checkpoint if given, else a placeholder bucket with the job's name.
Result<S3Address> checkpoint_address(const Options& options, std::string_view job);

}  // namespace trainyard::render
