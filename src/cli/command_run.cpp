// trainyard run: keeps a command alive, its checkpoints safe.

#include <fmt/format.h>
#include <unistd.h>

#include "command_run_input.hpp"
#include "command_store_parts.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

void tell(Io& io, agent::action::Say::Level level, const std::string& text) {
    using Level = agent::action::Say::Level;
    static constexpr std::int64_t kSecondNs = 1'000'000'000;
    const std::string time = store::format_time(sys::real_env().now_ns() / kSecondNs).substr(11, 8);
    io.err << fmt::format("trainyard: {} {}{}\n", time, level == Level::alarm ? "ALARM: " : "",
                          printable(text, 1000))
           << std::flush;
}

Result<Outcome> run_run(const Args& args, Io& io) {
    auto settings = run_settings(args);
    if (!settings) return settings.error();
    sys::SignalQueue signals(agent::answered_signals());
    std::unique_ptr<OpenStore> open;
    if (settings->policy.has_store) {
        auto opened = open_store(args, args.text("store"), io);
        if (!opened) return opened.error();
        open = std::move(*opened);
        open->bar->hide();
        settings->place.repository = open->repository.get();
        if (settings->group) {
            settings->group->objects = open->objects.get();
            settings->group->prefix = open->prefix;
        }
        settings->abandon_store = [&open] { open->stop.request_stop(); };
    }
    settings->signals = &signals;
    settings->display = args.flag("quiet") ? -1 : STDOUT_FILENO;
    settings->say = [&io](agent::action::Say::Level level, const std::string& text) {
        tell(io, level, text);
    };
    const auto result = agent::supervise(sys::real_env(), *settings);
    if (!result) return result.error();
    for (const std::string& line : result->evidence) io.err << "  " << line << "\n";
    return static_cast<Outcome>(result->ending);
}

}  // namespace

Command run_command() {
    Command command;
    command.name = "run";
    command.summary = "Keep a training command running, its checkpoints safe and whole";
    command.description =
        "Starts the command, sends each complete checkpoint to the store, and after a failure "
        "starts it again from the newest one (TRAINYARD_RESUME_FROM, TRAINYARD_RESUME_STEP). A "
        "preemption is never counted as a failure. The same state directory continues the run "
        "after any end, that of this supervisor included: docs/reference/supervisor.md.";
    command.examples = {
        {"trainyard run --checkpoint-dir out --store s3://my-bucket/run-7 -- torchrun train.py",
         "restart from the newest checkpoint, wherever this runs again"},
        {"trainyard run --checkpoint-dir out -- python3 train.py", "without a store"}};
    command.options = run_options();
    command.positionals = {{.name = "command",
                            .help = "after --: the command and its arguments",
                            .min = 1,
                            .max = kAnyNumber}};
    command.run = run_run;
    return command;
}

}  // namespace trainyard::cli
