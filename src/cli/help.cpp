#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "trainyard/base/text.hpp"
#include "usage.hpp"

namespace trainyard::cli {

namespace {

using Row = std::pair<std::string, std::string>;

constexpr std::size_t kWidth = 100;

/// Words in lines up to `room` bytes; later lines start with `indent` blanks.
std::string folded(const std::string& text, std::size_t room, std::size_t indent) {
    std::string out;
    std::size_t used = 0;
    for (const std::string_view word : split(text, ' ')) {
        if (used > 0 && used + 1 + word.size() > room) {
            out += "\n" + std::string(indent, ' ');
            used = 0;
        }
        if (used > 0) out += ' ';
        out += word;
        used += word.size() + (used > 0 ? 1 : 0);
    }
    return out;
}

/// Two columns, the second starting where the longest first one ends.
std::string two_columns(const std::vector<Row>& rows) {
    std::size_t width = 0;
    for (const Row& row : rows) {
        width = std::max(width, row.first.size());
    }
    std::string out;
    for (const Row& row : rows) {
        const std::size_t indent = width + 4;
        const std::size_t room = kWidth > indent + 30 ? kWidth - indent : 30;
        out += fmt::format("  {:<{}}  {}\n", row.first, width, folded(row.second, room, indent));
    }
    return out;
}

std::string examples_text(const std::vector<Example>& examples) {
    std::string out;
    for (const Example& example : examples) {
        out += fmt::format("  {}\n      {}\n", example.line, example.says);
    }
    return out;
}

}  // namespace

std::string option_left(const Option& option) {
    std::string left =
        (option.letter.empty() ? "" : "-" + option.letter + ", ") + "--" + option.name;
    if (option.kind != Option::Kind::flag) {
        left += " " + (option.value_name.empty() ? "VALUE" : option.value_name);
    }
    return left;
}

std::string option_right(const Option& option) {
    std::string right = option.help;
    if (!option.known().empty()) {
        right += fmt::format(": {}", fmt::join(option.known(), ", "));
    }
    if (option.kind == Option::Kind::list) {
        right += " (repeatable)";
    }
    if (!option.fallback.empty()) {
        right += fmt::format(" (default {})", option.fallback);
    }
    return right;
}

std::string usage_line(const Command& command) {
    std::string line = command.name;
    for (const Positional& positional : command.positionals) {
        const std::string name =
            fmt::format("<{}>{}", positional.name, positional.max > 1 ? "…" : "");
        line += positional.min == 0 ? fmt::format(" [{}]", name) : " " + name;
    }
    return line + (command.options.empty() ? "" : " [OPTION]…");
}

std::string help_text(const Command& command) {
    std::string out = fmt::format("{}.\n", command.summary);
    if (!command.description.empty()) {
        out += "\n" + command.description + "\n";
    }
    if (!command.examples.empty()) {
        out += "\nExamples:\n" + examples_text(command.examples);
    }
    out += fmt::format("\nUsage: trainyard {}\n", usage_line(command));
    std::vector<Row> rows;
    for (const Positional& positional : command.positionals) {
        rows.emplace_back("<" + positional.name + ">", positional.help);
    }
    if (!rows.empty()) {
        out += "\nArguments:\n" + two_columns(rows);
    }
    rows.clear();
    for (const Option& option : command.options) {
        rows.emplace_back(option_left(option), option_right(option));
    }
    rows.emplace_back("--help", "show this help");
    return out + "\nOptions:\n" + two_columns(rows);
}

std::string help_text(const std::vector<Command>& all) {
    std::string out = "From a training job to the AWS cluster that should run it.\n";
    std::vector<Example> examples;
    std::vector<Row> rows;
    for (const Command& command : all) {
        if (command.is_hidden) {
            continue;
        }
        rows.emplace_back(command.name, command.summary);
        if (!command.examples.empty()) {
            examples.push_back(command.examples.front());
        }
    }
    out += "\nExamples:\n" + examples_text(examples);
    out += "\nUsage: trainyard <command> [ARGUMENT]…\n\nCommands:\n" + two_columns(rows);
    out += "\nOptions:\n" + two_columns({{"--help", "show this help, or that of a command"},
                                         {"--version", "show the version"}});
    return out +
           "\nExit codes: 0 done, 1 the answer is no (only with --fail-on), 2 usage, 3 bad "
           "input,\n4 a file, the disk or the network failed, 70 internal error.\n";
}

}  // namespace trainyard::cli
