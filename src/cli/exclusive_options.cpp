#include "exclusive_options.hpp"

#include <fmt/format.h>

namespace trainyard::cli {
namespace {

std::string spelled(const Args& args, std::string_view name) {
    const auto found = args.slots.find(name);
    const bool is_option = found == args.slots.end() || found->second.is_option;
    return is_option ? fmt::format("--{}", name) : fmt::format("<{}>", name);
}

}  // namespace

Error usage_error(std::string_view command, std::string what, std::string why, std::string fix) {
    return {ErrorKind::usage,
            {{.where = {fmt::format("trainyard {}", command), 0, 0},
              .what = std::move(what),
              .why = std::move(why),
              .fix = std::move(fix)}}};
}

std::optional<Error> exclusive_mistake(const Args& args, std::string_view command,
                                       std::span<const Exclusive> pairs) {
    for (const Exclusive& pair : pairs) {
        if (!args.given(pair.first) || !args.given(pair.second)) continue;
        return usage_error(command,
                           fmt::format("{} and {} exclude each other", spelled(args, pair.first),
                                       spelled(args, pair.second)),
                           std::string(pair.why), "keep one of them");
    }
    return std::nullopt;
}

}  // namespace trainyard::cli
