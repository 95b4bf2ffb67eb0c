#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "command.hpp"
#include "trainyard/base/text.hpp"
#include "version.hpp"

namespace trainyard::cli {

namespace {

constexpr int kUsage = static_cast<int>(ErrorKind::usage);
constexpr int kBug = static_cast<int>(ErrorKind::bug);

const Command* find_command(std::string_view name) {
    for (const Command& command : commands()) {
        if (command.name == name) {
            return &command;
        }
    }
    return nullptr;
}

int unknown_command(const std::string& word, Io& io) {
    std::vector<std::string> names = {"--help", "--version"};
    for (const Command& command : commands()) {
        if (!command.is_hidden) {
            names.push_back(command.name);
        }
    }
    const std::optional<std::string> near = nearest(word, names);
    const std::string_view kind = word.starts_with('-') ? "option" : "command";
    io.report(
        {{.where = {"trainyard", 0, 0},
          .what = fmt::format("unknown {} \"{}\"", kind, word),
          .why = {},
          .fix = near ? fmt::format("did you mean \"{}\"?", *near) : "see trainyard --help"}});
    return kUsage;
}

int run_one(const Command& command, const std::vector<std::string>& words, Io& io) {
    const auto end_of_options = std::find(words.begin(), words.end(), "--");
    const bool wants_help = std::any_of(words.begin(), end_of_options, [](const std::string& word) {
        return word == "--help" || word == "-h";
    });
    if (wants_help) {
        io.out << help_text(command);
        return 0;
    }
    const Result<Args> args = parse(command, words);
    if (!args) {
        io.report(args.error().diagnostics);
        return static_cast<int>(args.error().kind);
    }
    const Result<Outcome> outcome = command.run(*args, io);
    if (!outcome) {
        io.report(outcome.error().diagnostics);
        return static_cast<int>(outcome.error().kind);
    }
    return static_cast<int>(*outcome);
}

int run_words(const std::vector<std::string>& words, Io& io) {
    if (words.empty()) {
        io.err << help_text(commands());
        return kUsage;
    }
    const std::string& first = words.front();
    if (first == "--version") {
        io.out << "trainyard " << kVersion << "\n";
        return 0;
    }
    if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1)) {
        io.out << help_text(commands());
        return 0;
    }
    const bool asks_for_help = first == "help";
    const std::string& name = asks_for_help ? words[1] : first;
    const Command* command = find_command(name);
    if (command == nullptr) {
        return unknown_command(name, io);
    }
    if (asks_for_help) {
        io.out << help_text(*command);
        return 0;
    }
    return run_one(*command, {words.begin() + 1, words.end()}, io);
}

}  // namespace

int run(const std::vector<std::string>& words, Io& io) {
    try {
        return run_words(words, io);
    } catch (const std::exception& e) {
        io.err << "trainyard: internal error: " << e.what() << "\n"
               << "  fix: this is a bug in trainyard: report it with the command that you ran\n";
        return kBug;
    }
}

}  // namespace trainyard::cli
