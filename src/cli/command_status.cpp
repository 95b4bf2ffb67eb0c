// trainyard status: what a run does, and where its time went.

#include <fmt/format.h>

#include <cmath>

#include "command_run_input.hpp"
#include "run_state.hpp"
#include "trainyard/agent/observer.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::cli {

namespace {

using doc::Node;

std::optional<double> number(agent::Journal& journal, const char* key) {
    const auto text = journal.get(key);
    if (!text) return std::nullopt;
    if (*text == "nan" || *text == "-nan") return std::nan("");
    if (text->ends_with("inf")) return text->starts_with('-') ? -INFINITY : INFINITY;
    return parse_number(*text);
}

struct Kind {
    const char* key;
    const char* name;
    Seconds agent::TimeSpent::* part;
};
constexpr Kind kKinds[] = {{"useful_ms", "useful", &agent::TimeSpent::useful},
                           {"open_ms", "not saved yet", &agent::TimeSpent::open},
                           {"lost_ms", "lost", &agent::TimeSpent::lost},
                           {"starting_ms", "starting", &agent::TimeSpent::starting},
                           {"waiting_ms", "waiting", &agent::TimeSpent::waiting},
                           {"ending_ms", "ending", &agent::TimeSpent::ending}};

agent::TimeSpent time_of(agent::Journal& journal) {
    agent::TimeSpent spent;
    for (const Kind& k : kKinds) {
        spent.*k.part = static_cast<double>(journal.get_integer(k.key).value_or(0)) * kMillisecond;
    }
    return spent;
}

std::string phase_of(const RunState& state) {
    const std::string ending = state.journal->get("ending").value_or("");
    if (!ending.empty()) return "ended: " + ending;
    if (state.has_supervisor) return state.is_command_alive ? "running" : "between attempts";
    return state.is_command_alive ? "running without its supervisor" : "its supervisor is gone";
}

Node json_of(const RunState& state) {
    agent::Journal& j = *state.journal;
    const agent::Memory m = j.load();
    Node root = Node::map();
    root.set("schema", "trainyard.status");
    root.set("schema_version", 1);
    root.set("state", phase_of(state));
    root.set("supervisor_alive", state.has_supervisor);
    root.set("command_alive", state.is_command_alive);
    if (state.has_supervisor) root.set("supervisor_pid", state.supervisor.pid);
    root.set("attempts", m.attempts);
    root.set("preemptions", m.preemptions);
    if (m.step >= 0) root.set("step", m.step);
    if (const auto last = number(j, "last_step")) {
        root.set("last_step", static_cast<std::int64_t>(*last));
    }
    if (m.saved >= 0) root.set("saved_step", m.saved);
    if (m.committed >= 0) root.set("committed_step", m.committed);
    for (const char* key :
         {"loss", "tokens_per_s", "step_time_s", "planned_step_time_s", "cost_usd", "budget_usd"}) {
        if (const auto value = number(j, key)) root.set(key, *value);
    }
    const agent::TimeSpent spent = time_of(j);
    Node time = Node::map();
    for (const Kind& k : kKinds) {
        std::string key(k.key);
        key.replace(key.size() - 3, 3, "_s");
        time.set(key, spent.*k.part / kSecond);
    }
    root.set("time", std::move(time));
    if (const auto g = spent.goodput()) root.set("goodput", *g);
    Node failures = Node::list();
    for (const agent::Failure& f : m.failures) {
        Node one = Node::map();
        one.set("attempt", f.attempt);
        if (f.step >= 0) one.set("step", f.step);
        one.set("cause", f.cause);
        failures.append(std::move(one));
    }
    root.set("failures_in_a_row", std::move(failures));
    return root;
}

std::string progress_line(agent::Journal& j) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (const auto loss = number(j, "loss")) add(fmt::format("loss {:.4g}", *loss));
    if (const auto step = number(j, "step_time_s")) {
        std::string part = format_duration(*step * kSecond) + " a step";
        if (const auto planned = number(j, "planned_step_time_s")) {
            part += fmt::format(" (plan {}, {:+.0f} %)", format_duration(*planned * kSecond),
                                100 * (*step / *planned - 1));
        }
        add(part);
    }
    if (const auto speed = number(j, "tokens_per_s")) add(format_count(*speed) + " tokens/s");
    return text;
}

void print(const RunState& state, Io& io) {
    agent::Journal& j = *state.journal;
    const agent::Memory m = j.load();
    const auto line = [&](const char* name, const std::string& text) {
        if (!text.empty()) io.out << fmt::format("  {:<13} {}\n", name, text);
    };
    io.out << phase_of(state) << "\n";
    std::string where = fmt::format("attempt {}", m.attempts);
    if (m.step >= 0) where += fmt::format(", step {}", m.step);
    if (const auto last = number(j, "last_step")) where += fmt::format(" of {:.0f}", *last);
    line("at", where);
    line("progress", progress_line(j));
    std::string safe = m.saved < 0 ? "" : fmt::format("step {} on disk", m.saved);
    if (m.committed >= 0) safe += fmt::format(", step {} in the store", m.committed);
    line("checkpoint", safe.empty() ? "none yet" : safe);
    const agent::TimeSpent spent = time_of(j);
    std::string parts;
    for (const Kind& k : kKinds) {
        if (spent.*k.part < kSecond / 10.0) continue;
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", format_duration(spent.*k.part),
                             k.name);
    }
    line("time", parts);
    if (const auto g = spent.goodput()) line("goodput", format_percent(*g));
    if (m.preemptions > 0) line("interrupted", fmt::format("{} times", m.preemptions));
    for (const agent::Failure& f : m.failures) {
        line("failed",
             fmt::format("attempt {} at step {}: {}", f.attempt,
                         f.step < 0 ? "?" : std::to_string(f.step), printable(f.cause, 200)));
    }
    if (const auto cost = number(j, "cost_usd")) {
        const auto budget = number(j, "budget_usd");
        line("cost", format_usd_cents(*cost * kUsd) +
                         (budget ? " of " + format_usd_cents(*budget * kUsd) : ""));
    }
    if (state.has_supervisor) line("supervisor", fmt::format("process {}", state.supervisor.pid));
    if (!state.has_supervisor && j.get("ending").value_or("").empty()) {
        io.err << "the supervisor is gone: trainyard resume takes the run up again\n";
    }
}

Result<Outcome> run_status(const Args& args, Io& io) {
    const auto state = open_run_state(args);
    if (!state) return state.error();
    if (args.flag("json")) {
        io.out << doc::write_json(json_of(*state));
    } else {
        print(*state, io);
    }
    return Outcome::done;
}

}  // namespace

Command status_command() {
    Command command;
    command.name = "status";
    command.summary = "What a run does, where its time went and what it has cost";
    command.examples = {{"trainyard status", "of the run in .trainyard"},
                        {"trainyard status --state /shared/run-7 --json", "for scripts"}};
    Option json;
    json.name = "json";
    json.kind = Option::Kind::flag;
    json.help = "print JSON, schema trainyard.status";
    command.options = {state_option(), std::move(json)};
    command.run = run_status;
    return command;
}

}  // namespace trainyard::cli
