#include "simulate_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "command_calibrate_input.hpp"
#include "command_catalog_input.hpp"
#include "command_plan_input.hpp"
#include "command_plan_place.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

Command plan_command();

namespace {

constexpr std::size_t kMaxPlan = std::size_t{16} << 20U;

/// Options of `trainyard plan` that this command takes as well, and hands on.
constexpr std::string_view kShared[] = {
    "tokens", "samples", "deadline",  "budget",      "instance",     "nodes",      "regions",
    "resume", "method",  "precision", "accelerator", "global-batch", "calibration"};
constexpr std::string_view kSharedFlags[] = {"prefer-spot", "no-spot"};

const Command& planner() {
    static const Command plan = plan_command();
    return plan;
}

double number_at(const doc::Node& root, std::initializer_list<std::string_view> path) {
    const doc::Node* n = &root;
    for (std::string_view key : path) {
        n = n->find(key);
        if (n == nullptr) return 0;
    }
    return n->is_numeric() ? n->as_number() : 0;
}
std::string text_at(const doc::Node& root, std::string_view key) {
    const doc::Node* n = root.find(key);
    return n != nullptr && n->is(doc::Node::Kind::string) ? n->text() : "";
}

/// Where the plan found spot of the type that is played, and for how much.
struct SpotRow {
    std::string type, region;
    double usd_per_hour = 0;
};

std::optional<std::string> elsewhere(const std::vector<SpotRow>& rows, const std::string& type,
                                     const std::string& region, const spot::RunSpec& played) {
    double here = 0;
    for (const spot::Pool& p : played.pools) {
        if (p.purchase == spot::Purchase::spot) here = p.price / kUsdPerHour;
    }
    const SpotRow* best = nullptr;
    for (const SpotRow& row : rows) {
        if (row.type != type || row.region == region || row.usd_per_hour >= 0.98 * here) continue;
        if (best == nullptr || row.usd_per_hour < best->usd_per_hour) best = &row;
    }
    if (best == nullptr) return std::nullopt;
    return fmt::format(
        "Spot is played in {} at ${:.2f}/h, where the plan is; in {} it is ${:.2f}/h: plan with "
        "--regions {} to play it there.",
        region, here, best->region, best->usd_per_hour, best->region);
}

SpotRow spot_row(const doc::Node& alternative) {
    const doc::Node* offer = alternative.find("offer");
    if (offer == nullptr || text_at(*offer, "purchase") != "spot") return {};
    return {text_at(alternative, "instance"), text_at(*offer, "region"),
            number_at(*offer, {"usd_per_instance_hour"})};
}

/// The top level repeats the limits in words of the plan; the run is what is played.
void warn_of_limit(const doc::Node& root, const doc::Node& run, std::string_view key,
                   std::vector<Diagnostic>& notes) {
    const doc::Node* top = root.find(key);
    const doc::Node* played = run.find(key);
    if (top == nullptr || played == nullptr || !top->is_numeric() || !played->is_numeric()) return;
    if (top->as_number() == played->as_number()) return;
    Diagnostic d;
    d.severity = Severity::warning;
    d.where = top->where;
    d.what = fmt::format("{} is {} here and {} in chosen.run", key, top->text(), played->text());
    d.why = "the one in chosen.run counts: that is what is played";
    d.fix = "write the same in both";
    notes.push_back(std::move(d));
}

/// Of a JSON object that looks like a plan: the schema must be one that this version reads.
std::optional<Error> schema_mistake(const doc::Node& root) {
    const doc::Node* schema = root.find("schema");
    const doc::Node* version = root.find("schema_version");
    Diagnostic d;
    d.fix = "plan again with this version: trainyard plan JOB --json > plan.json";
    if (text_at(root, "schema") != "trainyard.plan") {
        d.where = schema != nullptr ? schema->where : root.where;
        d.what = schema != nullptr ? "this is no plan: another schema"
                                   : "this is no plan: \"schema\" is missing";
        d.why = "a plan says \"schema\": \"trainyard.plan\"";
        return bad_input(std::move(d));
    }
    const bool known = version != nullptr && version->is_numeric() && version->as_number() == 1;
    if (known) return std::nullopt;
    d.where = version != nullptr ? version->where : root.where;
    d.what = version != nullptr ? "this schema_version of a plan is not known"
                                : "schema_version is missing";
    d.why = "this version reads \"schema_version\": 1";
    return bad_input(std::move(d));
}

Result<SimulateInput> from_plan(const doc::Node& root, const std::string& file) {
    const doc::Node* chosen = root.find("chosen");
    const doc::Node* run = chosen != nullptr ? chosen->find("run") : nullptr;
    if (run == nullptr || !run->is(doc::Node::Kind::map)) {
        Diagnostic d;
        d.where = {file, root.where.line, root.where.column};
        if (root.find("have") != nullptr) {
            d.what = "a plan on machines you have has nothing to play";
            d.why = "simulate plays what is rented: its prices, waits and interruptions";
            d.fix = "plan without --have: trainyard plan JOB --json > plan.json";
            return bad_input(std::move(d));
        }
        d.what = "this plan has nothing to play: no \"run\" under \"chosen\"";
        d.why = text_at(root, "verdict");
        d.fix = "plan again with this version: trainyard plan JOB --explain --json > plan.json";
        return bad_input(std::move(d));
    }
    auto read = plan::read_run(*run);
    if (!read) return read.error();
    SimulateInput in;
    in.run = std::move(*read);
    warn_of_limit(root, *run, "deadline_s", in.notes);
    warn_of_limit(root, *run, "budget_usd", in.notes);
    in.job = text_at(root, "job");
    in.verdict = text_at(root, "verdict");
    in.planned = number_at(*chosen, {"offer", "time", "expected_s"}) * kSecond;
    in.planned_cost = number_at(*chosen, {"offer", "cost", "expected_usd"}) * kUsd;
    const doc::Node* list = root.find("alternatives");
    const doc::Node* offer = chosen->find("offer");
    if (list != nullptr && list->is(doc::Node::Kind::list) && offer != nullptr) {
        std::vector<SpotRow> rows;
        for (const doc::Node& row : list->items()) rows.push_back(spot_row(row));
        in.elsewhere =
            elsewhere(rows, text_at(*chosen, "instance"), text_at(*offer, "region"), in.run.spec);
    }
    return in;
}

/// The plan's work, as one's own runs correct it.
std::optional<Error> correct(SimulateInput& in, const doc::Node& root,
                             const perf::Calibrations& calibrations,
                             const catalog::Catalog& catalog) {
    const doc::Node& chosen = *root.find("chosen");
    if (const doc::Node* before = chosen.find("correction")) {
        Diagnostic d;
        d.where = before->where;
        d.what = "this plan was made with a calibration already";
        d.fix = "leave --calibration out, or give the job itself";
        return bad_input(std::move(d));
    }
    const catalog::Accelerator* accelerator = catalog.accelerator(text_at(chosen, "accelerator"));
    const doc::Node* model = root.find("model");
    const doc::Node* training = chosen.find("training");
    if (accelerator == nullptr || model == nullptr || training == nullptr) return std::nullopt;
    workload::Model named;
    named.name = text_at(*model, "name");
    named.family = text_at(*model, "family");
    workload::Training t;
    t.stack = text_at(*training, "stack");
    const perf::Calibration* mine = calibrations.find(
        perf::calibration_key(named, t, *accelerator, text_at(chosen, "instance")));
    if (mine == nullptr) return std::nullopt;
    spot::RunSpec& spec = in.run.spec;
    spec.work *= mine->factor;
    spec.step_time = {std::min(1.0, mine->band.low), std::max(1.0, mine->band.high)};
    Diagnostic d;
    d.severity = Severity::note;
    d.where = chosen.where;
    d.what = fmt::format("the work is {:.3f} times the plan's", mine->factor);
    d.why = mine->band.basis;
    in.notes.push_back(std::move(d));
    return std::nullopt;
}

/// A model or a job has none of these keys.
bool is_plan(const doc::Node& n) {
    return text_at(n, "schema").starts_with("trainyard.") || n.find("chosen") != nullptr;
}

Error no_flags(const std::string& flag) {
    Diagnostic d;
    d.where.file = "--" + flag;
    d.what = "a plan.json is planned already";
    d.fix = "change the job and plan again, or give the job itself";
    return bad_input(std::move(d));
}

Result<SimulateInput> from_job(const Args& args, const std::vector<std::string>& words,
                               const std::string& today) {
    auto parsed = parse(planner(), words);
    if (!parsed) return parsed.error();
    auto request = plan_request(*parsed, today);
    if (!request) return request.error();
    auto catalog = load_catalog(args, today);
    if (!catalog) return catalog.error();
    if (parsed->given("accelerator")) {
        auto ids = accelerator_ids(parsed->text("accelerator"), *catalog);
        if (!ids) return ids.error();
        request->accelerators = std::move(*ids);
    }
    request->detail = plan::Detail::full;
    auto planned = plan::make_plan(*request, *catalog, plan::Assumptions::embedded());
    if (!planned) return planned.error();
    if (!planned->run) {
        Diagnostic d;
        d.where.file = args.text("job");
        d.what = "there is no plan to simulate";
        d.why = planned->verdict;
        d.fix = "see what would make it feasible: trainyard plan " + args.text("job");
        return bad_input(std::move(d));
    }
    SimulateInput in;
    in.run = std::move(*planned->run);
    in.job = planned->job;
    in.verdict = planned->verdict;
    in.planned = planned->chosen->offer.wall.expected;
    in.planned_cost = to_usd(planned->chosen->offer.cost.expected);
    std::vector<SpotRow> rows;
    for (const plan::Row& row : planned->rows) {
        if (row.option.offer.purchase != plan::Purchase::spot) continue;
        rows.push_back({row.option.candidate.instance->type, row.option.offer.region,
                        row.option.offer.rate / kUsdPerHour});
    }
    in.elsewhere = elsewhere(rows, planned->chosen->candidate.instance->type,
                             planned->chosen->offer.region, in.run.spec);
    return in;
}

}  // namespace

std::vector<Option> simulate_job_options() {
    std::vector<Option> out;
    for (const Option& o : planner().options) {
        const bool shared =
            std::find(std::begin(kShared), std::end(kShared), o.name) != std::end(kShared) ||
            std::find(std::begin(kSharedFlags), std::end(kSharedFlags), o.name) !=
                std::end(kSharedFlags);
        if (shared) out.push_back(o);
    }
    for (Option& o : catalog_options()) out.push_back(std::move(o));
    return out;
}

Result<SimulateInput> simulate_input(const Args& args, const std::string& today) {
    const std::string word = args.text("job");
    std::vector<std::string> words = {word};
    for (std::string_view name : kShared) {
        for (const std::string& v : args.given(name) ? args.list(name) : std::vector<std::string>{})
            words.push_back("--" + std::string(name) + "=" + v);
    }
    for (std::string_view name : kSharedFlags) {
        if (args.flag(name)) words.push_back("--" + std::string(name));
    }
    if (word.ends_with(".json")) {
        auto text = sys::read_file(word, kMaxPlan);
        if (!text) return text.error();
        auto root = doc::parse_any(*text, word);
        if (!root) return root.error();
        if (is_plan(*root)) {
            if (auto error = schema_mistake(*root)) return *std::move(error);
            std::erase_if(words,
                          [](const std::string& w) { return w.starts_with("--calibration="); });
            if (words.size() > 1) return no_flags(words[1].substr(2, words[1].find('=') - 2));
            auto in = from_plan(*root, word);
            if (!in || !args.given("calibration")) return in;
            auto calibrations = load_calibrations(args);
            if (!calibrations) return calibrations.error();
            auto catalog = load_catalog(args, today);
            if (!catalog) return catalog.error();
            if (auto error = correct(*in, *root, *calibrations, *catalog)) return *error;
            return in;
        }
    }
    return from_job(args, words, today);
}

}  // namespace trainyard::cli
