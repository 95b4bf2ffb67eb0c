// trainyard trace fit: processes and how well they fit.

#include <fmt/format.h>

#include <algorithm>

#include "command_trace_parts.hpp"
#include "table.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/spot/fit.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

using doc::Node;

bool has_hours(const spot::PoolProcess& p) {
    return std::any_of(p.hour_factor.begin(), p.hour_factor.end(), [](double f) { return f != 1; });
}

std::string fit_text(const std::vector<spot::ProcessFit>& fits) {
    Table table({{"POOL", Align::left},
                 {"GANG", Align::right},
                 {"UP shape", Align::right},
                 {"scale h", Align::right},
                 {"DOWN shape", Align::right},
                 {"scale h", Align::right},
                 {"START %", Align::right},
                 {"WHOLE %", Align::right},
                 {"BURST", Align::right},
                 {"ENDS", Align::right},
                 {"KS", Align::right},
                 {"GAIN", Align::right},
                 {"HOURS", Align::right}});
    std::string missing;
    for (const spot::ProcessFit& fit : fits) {
        const spot::PoolProcess& p = fit.process;
        if (!fit.missing.empty()) {
            missing += fmt::format("  {}: {}\n", p.name, fit.missing);
            continue;
        }
        table.add({p.name, std::to_string(p.gang), format_fixed(p.up.shape, 2),
                   three_digits(p.up.scale / kHour), format_fixed(p.down.shape, 2),
                   three_digits(p.down.scale / kHour), format_fixed(p.start_up * 100, 1),
                   format_fixed(p.gang_share * 100, 0), format_fixed(p.burst, 1),
                   std::to_string(fit.up->ended), format_fixed(fit.up->ks, 3),
                   format_fixed(fit.up->log_likelihood - fit.up->exponential_log_likelihood, 1),
                   has_hours(p) ? "yes" : "1"});
    }
    std::string out;
    if (!table.empty()) {
        out = table.text() +
              "\nWeibull up and down times. START %: a launch finds capacity. WHOLE %: drops that "
              "take all\nnodes; BURST: nodes in the others. KS: greatest distance to the observed "
              "curve. GAIN: log-\nlikelihood over a constant hazard (2 or more is a better fit). "
              "HOURS: factor by hour of day.\n";
    }
    if (!missing.empty()) out += (out.empty() ? "" : "\n") + ("No process\n" + missing);
    return out;
}

Node weibull_node(const spot::Weibull& w) {
    Node n = Node::map();
    return n.set("shape", w.shape).set("scale_s", w.scale.base()).set("mean_s", w.mean().base());
}

Node fit_node(const spot::ProcessFit& fit) {
    const spot::PoolProcess& p = fit.process;
    Node n = Node::map();
    n.set("name", p.name).set("gang", p.gang).set("days", fit.days);
    if (!fit.missing.empty()) return n.set("missing", fit.missing);
    Node hours = Node::list();
    for (double f : p.hour_factor) hours.append(Node::number(f));
    Node price = Node::map();
    price.set("mean_usd_per_hour", p.price.mean)
        .set("deviation_usd_per_hour", p.price.deviation)
        .set("between_changes_s", p.price.between_changes.base());
    Node good = Node::map();
    good.set("ended", fit.up->ended)
        .set("censored", fit.up->censored)
        .set("ks_distance", fit.up->ks)
        .set("log_likelihood", fit.up->log_likelihood)
        .set("log_likelihood_exponential", fit.up->exponential_log_likelihood)
        .set("hour_chi_square_23", fit.hour_chi_square);
    return n.set("up", weibull_node(p.up))
        .set("down", weibull_node(p.down))
        .set("start_up", p.start_up)
        .set("gang_share", p.gang_share)
        .set("burst", p.burst)
        .set("single_per_node_hour", p.single_per_hour)
        .set("hour_factors", has_hours(p) ? std::move(hours) : Node())
        .set("price", p.price.mean > 0 ? std::move(price) : Node())
        .set("goodness", std::move(good))
        .set("source", p.source.text);
}

}  // namespace

Result<Outcome> run_trace_fit(const Args& args, const TraceInput& input, Io& io) {
    auto gang = gang_of(args);
    if (!gang) return gang.error();
    std::vector<spot::ProcessFit> fits;
    bool any = false;
    for (const spot::PoolTrace& pool : input.traces.pools) {
        fits.push_back(spot::fit_process(pool, *gang));
        any = any || fits.back().missing.empty();
    }
    if (args.flag("json")) {
        Node root = Node::map();
        Node list = Node::list();
        for (const spot::ProcessFit& fit : fits) list.append(fit_node(fit));
        root.set("schema", "trainyard.trace-fit").set("schema_version", 1);
        io.out << doc::write_json(root.set("processes", std::move(list)));
    } else if (args.flag("csv")) {
        io.out << spot::write_processes(fits);
    } else {
        io.out << fit_text(fits);
    }
    if (!any) {
        Diagnostic d;
        d.where.file = args.list("file").front();
        d.what = "no process could be fitted";
        d.why = fits.empty()
                    ? "there are prices here but no capacity"
                    : fmt::format("{}: {}", fits.front().process.name, fits.front().missing);
        if (fits.size() > 1) d.why += fmt::format(", and {} more pools", fits.size() - 1);
        d.fix = "give a longer trace, or another --gang";
        std::vector<Diagnostic> all = input.mistakes;
        all.push_back(std::move(d));
        return Error{input.mistakes.empty() ? ErrorKind::bad_input : input.worst, std::move(all)};
    }
    return write_output(args, spot::write_processes(fits), input);
}

}  // namespace trainyard::cli
