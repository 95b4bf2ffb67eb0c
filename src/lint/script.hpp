#pragma once
// Shell scripts, read but never run: commands as words with their places, variables, #SBATCH lines.
// What the shell would expand ($X, $(…)) stays as written. A text that breaks off inside a quote is
// read to its end: a script is judged by what can be understood of it.

#include <string>
#include <string_view>
#include <vector>

#include "said.hpp"

namespace trainyard::lint {

struct Command {
    std::vector<Said> words;  ///< without quotes; leading assignments are in Script::env
    /// The last path component of the first word that is no launcher prefix: "torchrun".
    std::string_view program() const;
};

struct Script {
    std::vector<Command> commands;
    std::vector<EnvVar> env;         ///< exported, or set in front of a command
    std::vector<EnvVar> variables;   ///< plain assignments
    std::vector<EnvVar> directives;  ///< #SBATCH --nodes=2: {"nodes", "2"}; short forms spelled out
};

/// `at` is where the text begins in its file.
Script read_script(std::string_view text, const Location& at);

/// Value of --name=V or "--name V" among words ('-' and '_' are one); empty Said if absent. A flag
/// without a value gives an empty text at its place.
Said option(const std::vector<Said>& words, std::string_view name);
bool has_option(const std::vector<Said>& words, std::string_view name);
const EnvVar* find_env(const std::vector<EnvVar>& all, std::string_view name);
/// The last one wins, as in a shell.
Said env_value(const std::vector<EnvVar>& all, std::string_view name);

}  // namespace trainyard::lint
