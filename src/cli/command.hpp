#pragma once
// A command of the trainyard binary as a table: what it is called, what it accepts and what runs.
// Help, parsing, shell completion and docs/reference/commands.md all come from this table.
//
// To add a command "plan":
//   1. write src/cli/command_plan.cpp with
//          namespace trainyard::cli { Command plan_command() { return {.name = "plan", …, .run =
//          run_plan}; } }
//      where  Result<Outcome> run_plan(const Args& args, Io& io)
//   2. add the line  TRAINYARD_COMMAND(plan)  to src/cli/commands.def (its order is the order of
//   the help).
// Nothing else: CMake picks the file up, and `./check --bless` rewrites the reference page.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io.hpp"
#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::cli {

/// interrupted: Ctrl-C; what was printed is marked partial.
enum class Outcome { done = 0, answered_no = 1, interrupted = 130 };

struct Option {
    enum class Kind {
        flag,  ///< --json
        text,  ///< --tokens 300B, at most once
        list,  ///< --why-not a --why-not b,c: repeatable, commas separate
    };
    std::string name;  ///< without dashes
    Kind kind = Kind::text;
    std::string value_name{};            ///< "N": stands for the value in the help
    std::string help;                    ///< one line, no full stop
    std::string fallback{};              ///< value if absent, shown in the help; empty for none
    std::vector<std::string> choices{};  ///< if not empty, the only values allowed
    std::vector<std::string> hints{};    ///< known values, listed but not enforced by the parser
    std::string names{};   ///< what a shell completes: "instance", "accelerator", "region", "model"
    std::string letter{};  ///< "o": -o means the same
    /// What a shell can offer.
    const std::vector<std::string>& known() const { return choices.empty() ? hints : choices; }
};

struct Positional {
    std::string name;
    std::string help;
    int min = 1;
    int max = 1;          ///< kAnyNumber for "the rest"
    std::string names{};  ///< as of an option; files are offered besides
};
inline constexpr int kAnyNumber = 1 << 20;

struct Example {
    std::string line;  ///< "trainyard plan config.json --tokens 300B"
    std::string says;  ///< what it answers
};

/// What the user typed, checked against the table. Asking for a name that is not in the table is a
/// broken contract. The typed readers add a diagnostic (exit code 3) for a value that does not
/// parse and return nullopt then.
class Args {
  public:
    bool flag(std::string_view name) const;
    bool given(std::string_view name) const;  ///< by the user, not by a fallback
    /// Value or fallback; "" if there is neither.
    std::string text(std::string_view name) const;
    /// Value or fallback.
    std::optional<std::string> optional(std::string_view name) const;
    /// All values of a list option or a positional.
    std::vector<std::string> list(std::string_view name) const;

    using Mistakes = std::vector<Diagnostic>;
    std::optional<double> number(std::string_view name, Mistakes& mistakes) const;
    std::optional<int> integer(std::string_view name, int min, int max, Mistakes& mistakes) const;
    std::optional<double> count(std::string_view name, Mistakes& mistakes) const;
    std::optional<Seconds> duration(std::string_view name, Mistakes& mistakes) const;
    std::optional<Usd> usd(std::string_view name, Mistakes& mistakes) const;
    std::optional<Bytes> bytes(std::string_view name, Mistakes& mistakes) const;

    /// Used by the parser and by tests.
    struct Slot {
        std::vector<std::string> values;
        std::string fallback;
        bool is_option = true;
        bool is_given = false;
    };
    std::map<std::string, Slot, std::less<>> slots;

  private:
    const Slot& slot(std::string_view name) const;
    void mistake(std::string_view name, std::string_view expected, std::string fix,
                 Mistakes& mistakes) const;
};

struct Command {
    std::string name;
    std::string summary;        ///< one line, no full stop: shown in the list of commands
    std::string description{};  ///< optional paragraphs for the command's own help
    std::vector<Example> examples;
    std::vector<Option> options;
    std::vector<Positional> positionals;
    std::function<Result<Outcome>(const Args&, Io&)> run;
    bool is_hidden = false;
};

/// All commands in the order of the help.
const std::vector<Command>& commands();

/// Parses the words after the command's name. Errors are of kind usage.
Result<Args> parse(const Command& command, const std::vector<std::string>& words);

std::string help_text(const std::vector<Command>& all);
std::string help_text(const Command& command);
/// "plan [OPTION]… <model>"
std::string usage_line(const Command& command);

/// The whole program but for the streams: words are argv without the program name. Returns the exit
/// code.
int run(const std::vector<std::string>& words, Io& io);

}  // namespace trainyard::cli
