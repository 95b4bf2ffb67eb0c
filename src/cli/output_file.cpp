#include "output_file.hpp"

#include <fmt/format.h>

#include "exclusive_options.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

std::optional<Error> overwritten_input(const Args& args, std::string_view command,
                                       std::string_view option,
                                       const std::vector<std::string>& inputs) {
    if (!args.given(option)) return std::nullopt;
    const std::string output = args.text(option);
    for (const std::string& input : inputs) {
        std::vector<std::string> files = {input};
        if (auto inside = sys::list_files(input, "")) files = std::move(*inside);
        for (const std::string& file : files) {
            if (!sys::is_same_file(output, file)) continue;
            return usage_error(command,
                               fmt::format("--{} {} is an input of the same command", option,
                                           printable(output, 200)),
                               fmt::format("{} would be replaced", printable(file, 200)),
                               "name another file");
        }
    }
    return std::nullopt;
}

}  // namespace trainyard::cli
