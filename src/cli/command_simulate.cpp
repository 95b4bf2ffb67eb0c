// trainyard simulate: plays jobs on spot capacity.

#include "command.hpp"
#include "simulate_cases.hpp"

namespace trainyard::cli {

namespace {

Result<Outcome> run_simulate(const Args& args, Io& io) {
    if (args.given("cases")) return run_simulate_cases(args, io);
    Diagnostic d;
    d.what = "nothing to simulate";
    d.fix = "give --cases FILE --trace DIR; `trainyard simulate --help` has examples";
    return Error{ErrorKind::usage, {std::move(d)}};
}

}  // namespace

Command simulate_command() {
    std::vector<Option> options = simulate_cases_options();
    options.push_back({.name = "json",
                       .kind = Option::Kind::flag,
                       .help = "print JSON, schema trainyard.simulate-cases"});
    return {.name = "simulate",
            .summary = "Play jobs on spot capacity: cost and time by policy",
            .examples = {{"trainyard simulate --cases cases.csv --trace traces/",
                          "many one-node jobs, each on the trace of its zone"}},
            .options = std::move(options),
            .positionals = {},
            .run = run_simulate};
}

}  // namespace trainyard::cli
