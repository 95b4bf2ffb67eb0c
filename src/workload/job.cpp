// job.yaml -> Job. Every mistake is collected; nothing is guessed that the planner could choose
// with a reason.

#include <algorithm>
#include <array>
#include <cmath>

#include "mistake.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/workload/job.hpp"
#include "values.hpp"

namespace trainyard::workload {
namespace {

using Diagnostics = std::vector<Diagnostic>;

constexpr int kMaxSequence = 100'000'000;

void append(Diagnostics& to, const Error& from) {
    to.insert(to.end(), from.diagnostics.begin(), from.diagnostics.end());
}

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

/// "2027-03-31" and really a day.
bool is_date(std::string_view s) {
    if (s.size() != 10 || s[4] != '-' || s[7] != '-') return false;
    const auto part = [&](std::size_t at, std::size_t n) {
        const std::string_view digits = s.substr(at, n);
        const bool all =
            std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
        return all ? static_cast<int>(*parse_number(digits)) : -1;
    };
    const int year = part(0, 4);
    const int month = part(5, 2);
    const int day = part(8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1) return false;
    constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int last = month == 2 && is_leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
    return day <= last;
}

void read_deadline(doc::MapReader& r, Job& job) {
    const doc::Node* n = r.node("deadline");
    if (n == nullptr || n->is(doc::Node::Kind::null)) return;
    const std::string_view text = trim(n->text());
    if (is_date(text)) {
        job.deadline_date = DeadlineDate{std::string(text), n->where};
        return;
    }
    const std::optional<Seconds> t = n->is_numeric() ? std::nullopt : parse_duration(text);
    if (!t) {
        r.error("deadline", "deadline: \"" + n->text() + "\" is neither a duration nor a date",
                "write 30d, 12h, 2w or a date such as 2027-03-31");
    } else if (*t <= 0 * kSecond) {
        r.error("deadline", "deadline: must be more than 0",
                "give the time the job may take, for example 30d");
    } else if (*t > kLongestDeadline) {
        r.error("deadline", "deadline: " + n->text() + " is more than a century",
                "leave the key out for no deadline");
    } else {
        job.deadline = t;
    }
}

void read_budget(doc::MapReader& r, Job& job) {
    job.budget = r.optional_usd("budget");
    if (job.budget && *job.budget <= 0 * kUsd) {
        r.error("budget", "budget: must be more than 0",
                "give the amount in US dollars, or drop the key for no limit");
        job.budget.reset();
    }
    if (job.budget && *job.budget > kMostBudget) {
        r.error("budget", "budget: is more than a trillion dollars", "drop the key for no limit");
        job.budget.reset();
    }
}

void read_work(doc::MapReader& r, Job& job) {
    const std::optional<double> tokens = read_amount(r, "tokens", "token");
    job.samples = read_amount(r, "samples", "image");
    const double epochs = r.optional_number("epochs", {.min = 0.001, .max = 1e6}).value_or(1);
    job.epochs = epochs;
    job.tokens = tokens.value_or(0) * epochs * kToken;
    if (job.samples) job.samples = *job.samples * epochs;
    job.accelerator_hours_each =
        r.optional_number("accelerator_hours_each", {.min = 1e-3, .max = 1e10});
    job.sample_size = r.optional_bytes("sample_size");
    job.dataset = r.optional_bytes("dataset");
    const char* key = spelled(r, "sequence", "seq");
    job.sequence =
        static_cast<int>(r.optional_integer(key, {.min = 1, .max = kMaxSequence}).value_or(0));
}

/// What the reader can say only once model and work are known: a batch in sequences needs the
/// sequence length.
void read_global_batch(doc::MapReader& r, Job& job) {
    const char* key = spelled(r, "global_batch", "batch");
    const std::optional<BatchSize> b = read_batch(r, key);
    if (!b) return;
    if (b->tokens) {
        job.global_batch_tokens = b->tokens;
    } else if (job.sequence > 0) {
        job.global_batch_tokens = *b->sequences * job.sequence;
    } else if (job.model.vocab == 0) {
        job.global_batch_tokens = b->sequences;  // images: one sample counts as one
    } else {
        r.error(key, std::string(key) + ": sequences without a sequence length",
                "add sequence: 4096, or write 4M tokens");
    }
}

void read_policy(doc::MapReader& r, Job& job) {
    if (const auto spot = read_yes_no(r, "spot"))
        job.spot = *spot ? SpotPolicy::allowed : SpotPolicy::forbidden;
    if (const auto resume = r.optional_choice("resume", {"none", "checkpoint", "elastic"})) {
        job.resume = *resume == "none"      ? Resume::none
                     : *resume == "elastic" ? Resume::elastic
                                            : Resume::checkpoint;
    }
    job.mission_critical = read_yes_no(r, "mission_critical").value_or(false);
    job.trainium_ok = read_yes_no(r, "trainium").value_or(false);
    job.outside_aws_ok = read_yes_no(r, "outside_aws").value_or(false);
    job.data_public =
        r.optional_choice("data", {"public", "private"}).value_or("private") == "public";
}

void read_regions(doc::MapReader& r, Job& job) {
    const char* key = spelled(r, "regions", "region");
    const doc::Node* n = r.node(key);
    if (n == nullptr || n->is(doc::Node::Kind::null)) return;
    if (n->is(doc::Node::Kind::string)) job.regions.push_back(n->text());
    for (const doc::Node& item : n->items()) {
        if (item.is(doc::Node::Kind::string)) job.regions.push_back(item.text());
    }
    const bool whole = n->is(doc::Node::Kind::string) ||
                       (n->is(doc::Node::Kind::list) && job.regions.size() == n->items().size());
    if (!whole || job.regions.empty())
        r.error(key, std::string(key) + ": must be region names", "write [us-east-1, us-west-2]");
}

void read_limits(doc::MapReader& r, Job& job) {
    job.copies =
        static_cast<int>(r.optional_integer("copies", {.min = 1, .max = 1'000'000}).value_or(1));
    job.instance = r.optional_string("instance");
    if (const auto nodes = r.optional_integer("nodes", {.min = 1, .max = 1'000'000}))
        job.nodes = static_cast<int>(*nodes);
    job.mfu = r.optional_number("mfu", {.min = 0.001, .max = 1});
    job.stack = r.optional_string("stack");
}

void read_utilisation(doc::MapReader& r, OnPrem& o) {
    const doc::Node* n = r.node("utilisation");
    if (n == nullptr) {
        r.error("utilisation", "utilisation is missing",
                "add the share of time in use, for example [0.45, 0.9]");
        return;
    }
    if (n->is_numeric()) o.utilisation.push_back(n->as_number());
    for (const doc::Node& item : n->items())
        o.utilisation.push_back(item.is_numeric() ? item.as_number() : -1);
    const bool good =
        !o.utilisation.empty() && std::all_of(o.utilisation.begin(), o.utilisation.end(),
                                              [](double u) { return u > 0 && u <= 1; });
    if (!good)
        r.error("utilisation", "utilisation: must be fractions above 0 and up to 1",
                "write [0.45, 0.9]");
}

std::optional<OnPrem> read_on_prem(const doc::Node& n, Diagnostics& diagnostics,
                                   std::vector<std::string>& assumptions) {
    if (!n.is(doc::Node::Kind::map)) {
        diagnostics.push_back(mistake(n.where, "on_prem: must be a map",
                                      "write {capex: $320k, kw: 10.2, kwh: 0.12, years: 3, …}"));
        return std::nullopt;
    }
    doc::MapReader r(n, diagnostics);
    OnPrem o;
    o.capex = r.optional_usd("capex").value_or(0 * kUsd);
    o.kilowatt = r.optional_number("kw", {.min = 0.001, .max = 1e6}).value_or(0);
    o.per_kilowatt_hour = r.optional_usd("kwh").value_or(0 * kUsd);
    o.years = r.optional_number("years", {.min = 0.1, .max = 50}).value_or(0);
    for (const char* key : {"capex", "kw", "kwh", "years"}) {
        if (!r.has(key))
            r.error(key, "on_prem." + std::string(key) + " is missing", "the comparison needs it");
    }
    if (r.has("capex") && o.capex <= 0 * kUsd)
        r.error("capex", "capex: must be more than 0", "give the quoted price");
    if (const auto pue = r.optional_number("pue", {.min = 1, .max = 5})) {
        o.pue = *pue;
    } else {
        o.pue = 1.4;
        assumptions.emplace_back("on-prem PUE 1.4 assumed");
    }
    o.staff = r.optional_number("fte", {.min = 0, .max = 10'000}).value_or(0);
    o.staff_cost_per_year = r.optional_usd("fte_cost").value_or(0 * kUsd);
    if (o.staff > 0 && !r.has("fte_cost"))
        r.error("fte", "fte is given without fte_cost", "add fte_cost: $180k (per year)");
    o.maintenance_per_year = r.optional_number("maintenance", {.min = 0, .max = 1}).value_or(0);
    if (!r.has("fte")) assumptions.emplace_back("on-prem staff not given: counted as 0");
    if (!r.has("maintenance"))
        assumptions.emplace_back("on-prem maintenance not given: counted as 0");
    read_utilisation(r, o);
    o.reference = r.optional_string("reference").value_or("p5.48xlarge");
    r.finish(doc::UnknownKeys::error);
    return o;
}

/// Samples of a token model are sequences, so they give tokens when the length is known.
void settle_work(doc::MapReader& r, Job& job) {
    const bool token_model = job.model.vocab > 0 && !job.model.opaque_params;
    if (job.tokens > 0 * kToken) {
        if (job.samples) {
            r.error("samples", "tokens and samples both say how much to train",
                    "keep the one you know");
        }
        return;
    }
    if (job.samples && token_model) {
        if (job.sequence == 0) {
            r.error("samples", "samples of a text model need a sequence length",
                    "add sequence: 2048, or give tokens");
            return;
        }
        job.tokens = *job.samples * job.sequence * kToken;
        return;
    }
    if (!job.samples && !job.accelerator_hours_each && !job.on_prem) {
        r.error("tokens", "nothing says how much to train",
                "add tokens: 300B (or samples: …, or accelerator_hours_each: …)");
    }
}

}  // namespace

std::string_view to_string(SpotPolicy s) {
    return s == SpotPolicy::allowed ? "allowed" : "forbidden";
}

std::string_view to_string(Resume r) {
    switch (r) {
        case Resume::none:
            return "none";
        case Resume::checkpoint:
            return "checkpoint";
        case Resume::elastic:
            return "elastic";
    }
    return "?";
}

Result<Job> read_job(const doc::Node& root, const ConfigResolver& resolve) {
    if (!root.is(doc::Node::Kind::map)) {
        return bad_input(mistake(root.where, "a job must be a map of settings",
                                 "write model: llama-3.1-8b and tokens: 300B"));
    }
    Diagnostics diagnostics;
    doc::MapReader r(root, diagnostics);
    Job job;
    ErrorKind kind = ErrorKind::bad_input;
    job.name = r.optional_string("name").value_or("");
    if (const doc::Node* n = r.node("on_prem"))
        job.on_prem = read_on_prem(*n, diagnostics, job.assumptions);
    bool model_read = false;
    if (const doc::Node* n = r.node("model")) {
        Result<Model> m = read_model_reference(*n, resolve);
        if (m) {
            job.model = std::move(*m);
            model_read = true;
        } else {
            append(diagnostics, m.error());
            kind = m.error().kind;
        }
    } else if (!job.on_prem) {
        r.error("model", "model is missing",
                "add model: a name, {config: path}, {params: 13B} or a shape");
    }
    const MethodChoice method = read_method(r);
    job.method = method.method;
    job.lora = method.lora;
    job.optimizer = read_optimizer(r);
    job.precision = read_precision(r);
    if (auto wrong =
            quantised_precision_mistake(job.method, job.precision, place_of_precision(root)))
        diagnostics.push_back(std::move(*wrong));
    read_work(r, job);
    if (model_read) {
        read_global_batch(r, job);
    } else {
        r.node("global_batch");
        r.node("batch");
    }
    read_deadline(r, job);
    read_budget(r, job);
    read_policy(r, job);
    read_regions(r, job);
    read_limits(r, job);
    if (model_read && diagnostics.empty()) settle_work(r, job);
    r.finish(doc::UnknownKeys::error);
    // A file that is not there is the world's fault only if nothing else is wrong.
    if (diagnostics.size() == 1) return Error{kind, std::move(diagnostics)};
    if (!diagnostics.empty()) return bad_input(std::move(diagnostics));
    return job;
}

std::optional<Diagnostic> quantised_precision_mistake(Method method,
                                                      std::optional<catalog::Precision> precision,
                                                      Location where) {
    using catalog::Precision;
    const bool narrow = precision == Precision::fp8 || precision == Precision::fp4;
    if (method != Method::qlora || !narrow) return std::nullopt;
    return mistake(std::move(where),
                   "qlora in " + std::string(catalog::to_string(*precision)) +
                       ": the 4-bit base weights are multiplied in 16 or 32 bit",
                   "use bf16, or method lora with " + std::string(catalog::to_string(*precision)),
                   "QLoRA unpacks each weight before the product (arXiv 2305.14314, section 3)");
}

Result<Job> resolve_deadline(Job job, std::string_view today, Seconds since_midnight) {
    if (!job.deadline_date) return job;
    const std::optional<int> past = catalog::age_in_days(job.deadline_date->date, today);
    if (!past || *past > 0) {
        return bad_input(mistake(
            job.deadline_date->where, "deadline: " + job.deadline_date->date + " is in the past",
            "give a later date or a duration such as 30d", "today is " + std::string(today)));
    }
    job.deadline = (1.0 - *past) * kDay - since_midnight;
    if (*job.deadline > kLongestDeadline) {
        return bad_input(mistake(job.deadline_date->where,
                                 "deadline: " + job.deadline_date->date + " is over a century away",
                                 "leave it out for no deadline", "today is " + std::string(today)));
    }
    job.deadline_date.reset();
    return job;
}

}  // namespace trainyard::workload
