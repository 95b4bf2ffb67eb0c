// Shell completion scripts, generated from the registry.

#include <fmt/format.h>

#include "command.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::cli {

namespace {

std::vector<const Command*> visible() {
    std::vector<const Command*> shown;
    for (const Command& command : commands()) {
        if (!command.is_hidden) {
            shown.push_back(&command);
        }
    }
    return shown;
}

/// In single quotes, as every one of the three shells reads it.
std::string in_single_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? std::string("’") : std::string(1, c);
    }
    return out + "'";
}

std::string option_words(const Command& command) {
    std::string words = "--help";
    for (const Option& option : command.options) {
        words += " --" + option.name;
    }
    return words;
}

std::string bash_script() {
    std::string names = "--help --version";
    std::string cases;
    for (const Command* command : visible()) {
        names += " " + command->name;
        for (const Option& option : command->options) {
            if (!option.known().empty()) {
                cases += fmt::format("        {}:--{}) words=\"{}\" ;;\n", command->name,
                                     option.name, fmt::join(option.known(), " "));
            }
        }
        cases +=
            fmt::format("        {0}:*) words=\"{1}\" ;;\n", command->name, option_words(*command));
    }
    return fmt::format(
        "# bash completion for trainyard: source <(trainyard completion bash)\n"
        "_trainyard() {{\n"
        "    local current=\"${{COMP_WORDS[COMP_CWORD]}}\" "
        "previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\" words=\"\"\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n"
        "        return\n"
        "    fi\n"
        "    case \"${{COMP_WORDS[1]}}:$previous\" in\n{}    esac\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
        "}}\n"
        "complete -o default -F _trainyard trainyard\n",
        names, cases);
}

std::string zsh_script() {
    std::string names;
    std::string cases;
    for (const Command* command : visible()) {
        names +=
            fmt::format("        {}\n", in_single_quotes(command->name + ":" + command->summary));
        cases +=
            fmt::format("        {})\n            _arguments '*:file:_files' '--help[show help]'",
                        command->name);
        for (const Option& option : command->options) {
            std::string value;
            if (option.kind != Option::Kind::flag) {
                value = option.known().empty()
                            ? ":value:_files"
                            : fmt::format(":value:({})", fmt::join(option.known(), " "));
            }
            cases += fmt::format(" \\\n                '--{}{}'", option.name, value);
        }
        cases += " ;;\n";
    }
    return fmt::format(
        "#compdef trainyard\n"
        "# zsh completion for trainyard: source <(trainyard completion zsh)\n"
        "_trainyard() {{\n"
        "    local -a names=(\n{}    )\n"
        "    if (( CURRENT == 2 )); then\n"
        "        _describe command names\n"
        "        return\n"
        "    fi\n"
        "    case \"$words[2]\" in\n{}    esac\n"
        "}}\n"
        "compdef _trainyard trainyard\n",
        names, cases);
}

std::string fish_script() {
    std::string out = "# fish completion for trainyard: trainyard completion fish | source\n";
    for (const Command* command : visible()) {
        out += fmt::format("complete -c trainyard -n __fish_use_subcommand -f -a {} -d {}\n",
                           command->name, in_single_quotes(command->summary));
        for (const Option& option : command->options) {
            out += fmt::format("complete -c trainyard -n '__fish_seen_subcommand_from {}' -l {}",
                               command->name, option.name);
            if (option.kind != Option::Kind::flag) {
                out += option.known().empty()
                           ? std::string(" -r")
                           : fmt::format(" -x -a '{}'", fmt::join(option.known(), " "));
            }
            out += fmt::format(" -d {}\n", in_single_quotes(option.help));
        }
    }
    return out;
}

Result<Outcome> run_completion(const Args& args, Io& io) {
    const std::string shell = args.text("shell");
    if (shell == "bash") {
        io.out << bash_script();
    } else if (shell == "zsh") {
        io.out << zsh_script();
    } else if (shell == "fish") {
        io.out << fish_script();
    } else {
        return Error{ErrorKind::usage,
                     {{.where = {"trainyard completion", 0, 0},
                       .what = fmt::format("no completion for \"{}\"", shell),
                       .why = {},
                       .fix = "write bash, zsh or fish"}}};
    }
    return Outcome::done;
}

}  // namespace

Command completion_command() {
    return {.name = "completion",
            .summary = "Print a shell completion script",
            .description = {},
            .examples = {{"source <(trainyard completion bash)",
                          "Complete commands and options in this shell"}},
            .options = {},
            .positionals = {{.name = "shell", .help = "bash, zsh or fish"}},
            .run = run_completion,
            .is_hidden = false};
}

}  // namespace trainyard::cli
