// Shell completion scripts, generated from the registry.

#include <fmt/format.h>

#include <array>
#include <set>

#include "command.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/workload/model.hpp"

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

/// The list behind Option::names and Positional::names.
std::vector<std::string> names_of(std::string_view kind) {
    std::set<std::string> names;
    if (kind == "model") {
        for (const workload::KnownModel& m : workload::known_models()) names.insert(m.name);
        return {names.begin(), names.end()};
    }
    const Result<catalog::Catalog> c = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    TRAINYARD_ASSERT(c.has_value(), "the embedded catalog loads; catalog_test loads it");
    for (const catalog::Instance& i : c->instances()) {
        if (i.accelerators < 1) continue;
        names.insert(kind == "instance" ? i.type : i.accelerator);
    }
    if (kind != "region") return {names.begin(), names.end()};
    names.clear();
    for (const catalog::Price& p : c->prices()) {
        // Region names have two dashes; Local Zones more, other providers' places fewer.
        if (p.provider == "AWS" && split(p.region, '-').size() == 3) names.insert(p.region);
    }
    return {names.begin(), names.end()};
}

constexpr std::array<std::string_view, 4> kKinds = {"instance", "accelerator", "region", "model"};

/// The names of the first positional that has some.
std::string positional_names(const Command& command) {
    for (const Positional& p : command.positionals) {
        if (!p.names.empty()) return p.names;
    }
    return {};
}

/// One case per option that takes a value, so that no option is offered in its place.
std::string bash_cases(const Command& command) {
    std::string cases;
    for (const Option& option : command.options) {
        if (option.kind == Option::Kind::flag) continue;
        const std::string words = option.names.empty()
                                      ? fmt::format("{}", fmt::join(option.known(), " "))
                                      : "$_trainyard_" + option.names;
        cases +=
            fmt::format("        {}:--{}) words=\"{}\" ;;\n", command.name, option.name, words);
    }
    const std::string names = positional_names(command);
    const std::string options = option_words(command);
    if (names.empty()) {
        return cases + fmt::format("        {}:*) words=\"{}\" ;;\n", command.name, options);
    }
    return cases + fmt::format(
                       "        {0}:*) words=\"$_trainyard_{1}\"\n"
                       "            case \"$current\" in -*) words=\"{2}\" ;; esac ;;\n",
                       command.name, names, options);
}

std::string bash_script() {
    std::string lists;
    for (const std::string_view kind : kKinds)
        lists += fmt::format("_trainyard_{}=\"{}\"\n", kind, fmt::join(names_of(kind), " "));
    std::string names = "--help --version";
    std::string cases;
    for (const Command* command : visible()) {
        names += " " + command->name;
        cases += bash_cases(*command);
    }
    return fmt::format(
        "# bash completion for trainyard: source <(trainyard completion bash)\n"
        "{}"
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
        lists, names, cases);
}

std::string zsh_command(const Command& command) {
    const std::string names = positional_names(command);
    std::string out =
        fmt::format("        {})\n            _arguments '*:{}' '--help[show help]'", command.name,
                    names.empty() ? "file:_files" : names + " or file:_trainyard_" + names);
    for (const Option& option : command.options) {
        std::string value;
        if (!option.names.empty()) {
            value = fmt::format(":{0}:_trainyard_{0}", option.names);
        } else if (option.kind != Option::Kind::flag) {
            value = option.known().empty()
                        ? ":value:_files"
                        : fmt::format(":value:({})", fmt::join(option.known(), " "));
        }
        out += fmt::format(" \\\n                '--{}{}'", option.name, value);
    }
    return out + " ;;\n";
}

std::string zsh_script() {
    std::string lists;
    for (const std::string_view kind : kKinds) {
        lists += fmt::format("_trainyard_{}() {{\n    compadd -- {}\n{}}}\n", kind,
                             fmt::join(names_of(kind), " "),
                             kind == "model" || kind == "instance" ? "    _files\n" : "");
    }
    std::string names;
    std::string cases;
    for (const Command* command : visible()) {
        names +=
            fmt::format("        {}\n", in_single_quotes(command->name + ":" + command->summary));
        cases += zsh_command(*command);
    }
    return fmt::format(
        "#compdef trainyard\n"
        "# zsh completion for trainyard: source <(trainyard completion zsh)\n"
        "{}"
        "_trainyard() {{\n"
        "    local -a names=(\n{}    )\n"
        "    if (( CURRENT == 2 )); then\n"
        "        _describe command names\n"
        "        return\n"
        "    fi\n"
        "    case \"$words[2]\" in\n{}    esac\n"
        "}}\n"
        "compdef _trainyard trainyard\n",
        lists, names, cases);
}

std::string fish_option(const Command& command, const Option& option) {
    std::string out = fmt::format("complete -c trainyard -n '__fish_seen_subcommand_from {}' -l {}",
                                  command.name, option.name);
    if (!option.names.empty()) {
        out += fmt::format(" -x -a '(__trainyard_{})'", option.names);
    } else if (option.kind != Option::Kind::flag) {
        out += option.known().empty() ? std::string(" -r")
                                      : fmt::format(" -x -a '{}'", fmt::join(option.known(), " "));
    }
    return out + fmt::format(" -d {}\n", in_single_quotes(option.help));
}

std::string fish_script() {
    std::string out = "# fish completion for trainyard: trainyard completion fish | source\n";
    for (const std::string_view kind : kKinds) {
        out += fmt::format("function __trainyard_{}\n    printf '%s\\n' {}\nend\n", kind,
                           fmt::join(names_of(kind), " "));
    }
    for (const Command* command : visible()) {
        out += fmt::format("complete -c trainyard -n __fish_use_subcommand -f -a {} -d {}\n",
                           command->name, in_single_quotes(command->summary));
        if (const std::string names = positional_names(*command); !names.empty()) {
            out += fmt::format(
                "complete -c trainyard -n '__fish_seen_subcommand_from {}' -a '(__trainyard_{})'\n",
                command->name, names);
        }
        for (const Option& option : command->options) out += fish_option(*command, option);
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
