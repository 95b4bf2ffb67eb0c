#include "settle.hpp"

#include <set>

#include "context.hpp"
#include "play_offer.hpp"
#include "rows.hpp"

namespace trainyard::plan {
namespace {

/// Numbers of the spot offers shown that have not been played.
std::set<std::size_t> unplayed(const Found& f, const Request& request,
                               const catalog::Catalog& catalog, const Assumptions& a) {
    const Context x{request,   catalog,      a,          f.work,    f.limits,
                    f.options, f.rejections, f.chosen(), f.named(), f.other()};
    std::set<std::size_t> out;
    const auto look = [&](const Option& o) {
        if (can_be_played(o, request)) out.insert(o.number);
    };
    for (const Row& r : rows_of(x)) look(r.option);
    for (const Option& o : pareto_front(f.mine)) look(o);
    return out;
}

}  // namespace

void settle(Found& f, const Request& request, const catalog::Catalog& catalog,
            const Assumptions& a) {
    std::set<std::size_t> tried;
    for (;;) {
        std::set<std::size_t> todo = unplayed(f, request, catalog, a);
        std::erase_if(todo, [&](std::size_t i) { return !tried.insert(i).second; });
        if (todo.empty()) return;
        for (std::size_t i : todo) {
            Option& o = f.options[i];
            const std::string service = service_for(o.candidate, request, catalog, a, 0).service;
            o.offer = play_offer(o, request, service, catalog, a);
        }
        choose_among(f, request, a);
    }
}

}  // namespace trainyard::plan
