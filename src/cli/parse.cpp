// The only file that includes CLI11: it maps a command's table to CLI11 options and CLI11's errors
// to diagnostics. Help is not CLI11's (help.cpp); neither are choices and unknown words, whose
// messages suggest the nearest name.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "command.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

Error usage(const Command& command, std::string what, std::string fix) {
    return {ErrorKind::usage,
            {{.where = {"trainyard " + command.name, 0, 0},
              .what = std::move(what),
              .why = {},
              .fix = fix.empty() ? fmt::format("see trainyard {} --help", command.name)
                                 : std::move(fix)}}};
}

Error unknown_option(const Command& command, const std::string& word) {
    std::vector<std::string> known = {"--help"};
    for (const Option& option : command.options) {
        known.push_back("--" + option.name);
    }
    const std::string name = word.substr(0, word.find('='));
    const std::optional<std::string> near = nearest(name, known);
    return usage(command, fmt::format("unknown option {}", name),
                 near ? fmt::format("did you mean {}?", *near) : "");
}

std::optional<Error> check_option(const Command& command, const Option& option,
                                  const std::vector<std::string>& values) {
    if (option.kind == Option::Kind::text && values.size() > 1) {
        return usage(command, fmt::format("--{} is given {} times", option.name, values.size()),
                     "give it once");
    }
    for (const std::string& value : values) {
        if (value.empty()) {
            return usage(command, fmt::format("--{} has an empty value", option.name), {});
        }
        const auto& choices = option.choices;
        if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
            const std::optional<std::string> near = nearest(value, choices);
            return usage(command,
                         fmt::format("--{}: \"{}\" is not one of {}", option.name, value,
                                     fmt::join(choices, ", ")),
                         near ? fmt::format("did you mean \"{}\"?", *near) : "");
        }
    }
    return std::nullopt;
}

/// Hands the words that are no options to the positionals in order, as many to each as it takes.
std::optional<Error> place_positionals(const Command& command,
                                       const std::vector<std::string>& words, Args& args) {
    std::size_t next = 0;
    for (const Positional& positional : command.positionals) {
        std::vector<std::string> values;
        while (next < words.size() && static_cast<int>(values.size()) < positional.max) {
            values.push_back(words[next]);
            ++next;
        }
        if (positional.max == 1 && !values.empty() && values.front().empty()) {
            return usage(command, fmt::format("<{}> is empty", positional.name), {});
        }
        if (static_cast<int>(values.size()) < positional.min) {
            return usage(command, fmt::format("<{}> is missing", positional.name),
                         fmt::format("usage: trainyard {}", usage_line(command)));
        }
        const bool is_given = !values.empty();
        args.slots[positional.name] = {std::move(values), {}, false, is_given};
    }
    if (next < words.size()) {
        return usage(command, fmt::format("unexpected argument \"{}\"", words[next]), {});
    }
    return std::nullopt;
}

/// Storage that CLI11 fills; std::map keeps the addresses.
struct Bound {
    std::map<std::string, std::vector<std::string>> values;
    std::map<std::string, bool> flags;
};

void bind(CLI::App& app, const Command& command, Bound& bound) {
    app.set_help_flag();
    app.allow_extras();
    for (const Option& option : command.options) {
        const std::string names =
            (option.letter.empty() ? "" : "-" + option.letter + ",") + "--" + option.name;
        if (option.kind == Option::Kind::flag) {
            app.add_flag(names, bound.flags[option.name])
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
            continue;
        }
        CLI::Option* added = app.add_option(names, bound.values[option.name])
                                 ->expected(1)
                                 ->allow_extra_args(false)
                                 ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        if (option.kind == Option::Kind::list) {
            added->delimiter(',');
        }
    }
}

std::optional<Error> parse_words(CLI::App& app, const Command& command,
                                 std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    try {
        app.parse(std::move(words));
    } catch (const CLI::ArgumentMismatch& e) {
        const std::string message = e.what();
        return usage(command, fmt::format("{} needs a value", message.substr(0, message.find(':'))),
                     {});
    } catch (const CLI::ParseError& e) {
        return usage(command, e.what(), {});
    }
    return std::nullopt;
}

}  // namespace

Result<Args> parse(const Command& command, const std::vector<std::string>& words) {
    CLI::App app;
    Bound bound;
    bind(app, command, bound);
    // After "--" everything is positional, even "-5"; CLI11 would lose the difference.
    const auto end_of_options = std::find(words.begin(), words.end(), "--");
    if (std::optional<Error> error = parse_words(app, command, {words.begin(), end_of_options})) {
        return *std::move(error);
    }
    std::vector<std::string> positionals = app.remaining();
    for (const std::string& word : positionals) {
        if (word.starts_with('-') && word.size() > 1) {
            return unknown_option(command, word);
        }
    }
    if (end_of_options != words.end()) {
        positionals.insert(positionals.end(), end_of_options + 1, words.end());
    }
    Args args;
    for (const Option& option : command.options) {
        const std::vector<std::string>& values = bound.values[option.name];
        if (std::optional<Error> error = check_option(command, option, values)) {
            return *std::move(error);
        }
        const bool is_given =
            option.kind == Option::Kind::flag ? bound.flags[option.name] : !values.empty();
        args.slots[option.name] = {values, option.fallback, true, is_given};
    }
    if (std::optional<Error> error = place_positionals(command, positionals, args)) {
        return *std::move(error);
    }
    return args;
}

}  // namespace trainyard::cli
