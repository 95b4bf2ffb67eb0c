// trainyard resume: the same run again, with the words it was begun with.

#include <filesystem>
#include <system_error>

#include "command_run_input.hpp"
#include "run_state.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::cli {

Command run_command();

namespace {

Result<Outcome> run_resume(const Args& args, Io& io) {
    std::vector<std::string> words;
    std::string folder;
    {
        // Closed again before the run opens it.
        const auto state = open_run_state(args);
        if (!state) return state.error();
        folder = state->journal->get("folder").value_or("");
        const auto list = doc::parse_json(state->journal->get("words").value_or("[]"), "words");
        if (!list) return list.error();
        for (const doc::Node& word : list->items()) words.push_back(word.text());
    }
    std::error_code failure;
    std::filesystem::current_path(folder, failure);
    if (failure) {
        return Error{ErrorKind::world,
                     {{.where = {folder, 0, 0},
                       .what = "the directory that the run was begun in cannot be entered",
                       .why = failure.message(),
                       .fix = "trainyard run in another one, with the same --state"}}};
    }
    const Command command = run_command();
    const auto parsed = parse(command, words);
    if (!parsed) return parsed.error();
    return command.run(*parsed, io);
}

}  // namespace

Command resume_command() {
    Command command;
    command.name = "resume";
    command.summary = "Take a run up again where it was left";
    command.description =
        "The words of `trainyard run` are kept in the state directory. A command that still runs "
        "is taken over; else it is started from the newest checkpoint.";
    command.examples = {{"trainyard resume", "the run in .trainyard"}};
    command.options = {state_option()};
    command.run = run_resume;
    return command;
}

}  // namespace trainyard::cli
