#include "found.hpp"

#include <algorithm>
#include <iterator>

#include "context.hpp"
#include "settle.hpp"
#include "trainyard/plan/space.hpp"

namespace trainyard::plan {
namespace {

std::vector<int> sizes_up_to(int nodes) {
    std::vector<int> sizes = node_counts(nodes);
    if (sizes.back() != nodes) sizes.push_back(nodes);
    return sizes;
}

/// The search, with the user's own machines at every size up to what there is.
SearchResult with_owned(SearchResult all, const Request& request, const catalog::Catalog& catalog,
                        const Assumptions& a) {
    const Owned& have = *request.have;
    SearchResult own =
        search_type(request, catalog, a, *catalog.instance(have.instance), sizes_up_to(have.nodes));
    std::erase_if(all.candidates, [&](const Candidate& c) {
        return c.instance->type == have.instance && c.nodes <= have.nodes;
    });
    for (Candidate& c : own.candidates) {
        if (c.nodes <= have.nodes) all.candidates.push_back(std::move(c));
    }
    if (own.candidates.empty()) {
        std::erase_if(all.rejections,
                      [&](const Rejection& r) { return r.instance == have.instance; });
        for (Rejection& r : own.rejections) all.rejections.push_back(std::move(r));
    }
    return all;
}

/// The search, with the type the user named searched up to the node count the user named.
SearchResult search_all(const Request& request, const catalog::Catalog& catalog,
                        const Assumptions& a) {
    SearchResult all = search(request, catalog, a);
    if (request.have) return with_owned(std::move(all), request, catalog, a);
    if (!request.job.instance || !request.job.nodes || request.job.copies > 1) return all;
    SearchResult own = search_type(request, catalog, a, *catalog.instance(*request.job.instance),
                                   sizes_up_to(*request.job.nodes));
    std::erase_if(all.candidates,
                  [&](const Candidate& c) { return c.instance->type == *request.job.instance; });
    for (Candidate& c : own.candidates) all.candidates.push_back(std::move(c));
    return all;
}

std::vector<Option> all_options(const SearchResult& found, const Request& request, const Work& work,
                                const catalog::Catalog& catalog, const Assumptions& a) {
    std::vector<Option> options;
    for (const Candidate& c : found.candidates) {
        const ServiceChoice service = service_for(c, request, catalog, a, 0);
        for (Offer& o : offers(c, request, work, service.service, catalog, a))
            options.push_back({c, std::move(o), options.size()});
    }
    return options;
}

/// Within the user's own type and count, if named; only the user's machines, if there are some.
std::vector<Option> allowed(const std::vector<Option>& options, const Request& request) {
    const workload::Job& job = request.job;
    std::vector<Option> out;
    for (const Option& o : options) {
        if (request.have && o.offer.purchase != Purchase::owned) continue;
        const bool type = !job.instance || o.candidate.instance->type == *job.instance;
        const bool count = !job.nodes || o.candidate.nodes <= *job.nodes;
        if (type && count) out.push_back(o);
    }
    return out;
}

/// The cheapest way to get the node count that the user named: one in time if there is one.
std::optional<std::size_t> requested_option(const std::vector<Option>& mine,
                                            const workload::Job& job, const Limits& limits,
                                            const Assumptions& a) {
    std::optional<std::size_t> best;
    if (!job.nodes) return best;
    const auto is_late = [&](const Option& o) { return o.offer.wall.high > limits.deadline; };
    for (std::size_t i = 0; i < mine.size(); ++i) {
        const Option& o = mine[i];
        if (o.candidate.nodes != *job.nodes || !is_safe(o, limits, a) || o.offer.commitment)
            continue;
        if (!best || std::pair(is_late(o), o.offer.cost.expected) <
                         std::pair(is_late(mine[*best]), mine[*best].offer.cost.expected))
            best = i;
    }
    return best;
}

/// The user named a node count: keep it if it scales, else the cheapest smaller one that is in
/// time.
void prefer_requested(Found& f, const Assumptions& a) {
    if (!f.requested || !f.choice.index) return;
    const Option& small = *f.chosen();
    const Option& requested = *f.named();
    if (small.candidate.nodes >= requested.candidate.nodes) return;
    const double speedup = small.candidate.training_time() / requested.candidate.training_time();
    const double ratio =
        static_cast<double>(requested.candidate.devices()) / small.candidate.devices();
    const bool in_time = requested.offer.wall.expected <= f.limits.deadline;
    if (speedup / ratio >= a.number("choice.scaling_floor") && in_time) {
        f.choice.index = f.requested;
    }
}

/// Best of what can be rented outside the type the user named, or beside the user's machines.
std::optional<std::size_t> other_option(const Found& f, const Request& request,
                                        const Assumptions& a) {
    const auto& named = request.job.instance;
    if (!named && !request.have) return std::nullopt;
    std::vector<Option> rented;
    std::copy_if(f.options.begin(), f.options.end(), std::back_inserter(rented),
                 [](const Option& o) { return o.offer.purchase != Purchase::owned; });
    const Choice free = choose(rented, f.limits, a);
    if (!free.index) return std::nullopt;
    const Option& best = rented[*free.index];
    if (named && best.candidate.instance->type == *named) return std::nullopt;
    return best.number;
}

}  // namespace

void choose_among(Found& f, const Request& request, const Assumptions& a) {
    f.mine = allowed(f.options, request);
    f.choice = choose(f.mine, f.limits, a);
    f.requested = requested_option(f.mine, request.job, f.limits, a);
    prefer_requested(f, a);
    f.elsewhere = other_option(f, request, a);
}

Found find_options(const Request& request, const catalog::Catalog& catalog, const Assumptions& a) {
    Found f;
    f.work = work_of(request.job, a);
    f.limits = limits_of(request, a);
    SearchResult all = search_all(request, catalog, a);
    f.stats = all.stats;
    f.rejections = std::move(all.rejections);
    all.rejections.clear();
    f.options = all_options(all, request, f.work, catalog, a);
    choose_among(f, request, a);
    settle(f, request, catalog, a);
    return f;
}

}  // namespace trainyard::plan
