#include "eligible.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "trainyard/base/text.hpp"
#include "trainyard/plan/offer.hpp"

namespace trainyard::plan {

using catalog::Precision;
using catalog::PurchaseType;

bool spans_nodes(const catalog::Instance& i) {
    if (!i.network) return false;
    const bool direct = i.gpudirect_rdma == catalog::Yes::yes && *i.network >= 100 * kGbitPerSecond;
    return i.efa == catalog::Yes::yes && (i.accelerators >= 4 || direct);
}

perf::Interconnect tcp_fallback(perf::Interconnect efa, const catalog::Instance& instance) {
    efa.fabric = perf::Fabric::tcp;
    efa.per_node =
        efa.per_node / static_cast<double>(std::max(1, instance.network_cards.value_or(1)));
    return efa;
}

std::optional<UsdPerSecond> cheapest_rate(const catalog::Instance& instance,
                                          const std::vector<std::string>& regions,
                                          const catalog::Catalog& catalog) {
    std::optional<UsdPerSecond> best;
    for (const std::string& region : regions) {
        for (PurchaseType p :
             {PurchaseType::on_demand, PurchaseType::capacity_block, PurchaseType::spot}) {
            const auto price = catalog.price(instance.type, p, region);
            if (price && (!best || price->rate < *best)) best = price->rate;
        }
    }
    return best;
}

namespace {

bool is_trainium(const catalog::Accelerator& a) {
    return a.vendor == "AWS" && to_lower(a.name).find("trainium") != std::string::npos;
}

Rejection rejected(const catalog::Instance& i, Lost why, std::string text, double number = 0) {
    return {i.type, why, std::move(text), number};
}

/// bf16 where the device has it, else fp16 unless the user insists on bf16.
std::optional<Precision> precision_of(const catalog::Accelerator& a, const workload::Job& job,
                                      Rules rules) {
    const Precision wanted = job.precision.value_or(Precision::bf16);
    if (a.peak_for(wanted)) return wanted;
    const bool insists = job.precision.has_value() && rules == Rules::all;
    if (wanted == Precision::bf16 && !insists && a.peak_for(Precision::fp16))
        return Precision::fp16;
    return std::nullopt;
}

Rejection no_precision(const catalog::Instance& i, const catalog::Accelerator& a,
                       const workload::Job& job, const Assumptions& assumptions) {
    const Precision wanted = job.precision.value_or(Precision::bf16);
    for (const DeviceRule* rule : assumptions.device_rules(a.architecture)) {
        if (wanted == Precision::bf16 && rule->rule == "no-bf16")
            return rejected(i, Lost::no_bf16, rule->text);
    }
    const Lost why = wanted == Precision::bf16 ? Lost::no_bf16 : Lost::no_fp8;
    return rejected(i, why, "no " + std::string(catalog::to_string(wanted)) + " on " + a.name);
}

/// The naming rule of EC2: a "g" after the generation digit is a Graviton (arm64) host.
bool is_arm_host(const catalog::Instance& i) {
    for (std::size_t at = 0; at + 1 < i.family.size(); ++at) {
        if (i.family[at] >= '0' && i.family[at] <= '9' && i.family[at + 1] == 'g') return true;
    }
    return false;
}

/// On demand if anyone sells it so, else whatever is known: spot must not decide which size stands
/// for its group.
std::optional<UsdPerSecond> firm_rate(const catalog::Instance& i,
                                      const std::vector<std::string>& regions,
                                      const catalog::Catalog& catalog) {
    std::optional<UsdPerSecond> best;
    for (const std::string& region : regions) {
        const auto p = catalog.price(i.type, PurchaseType::on_demand, region);
        if (p && (!best || p->rate < *best)) best = p->rate;
    }
    return best ? best : cheapest_rate(i, regions, catalog);
}

std::optional<Rejection> preference(const catalog::Instance& i, const catalog::Accelerator& a,
                                    const Request& request, const Assumptions& assumptions) {
    if (i.retired) return rejected(i, Lost::retired, assumptions.because("retired"));
    if (is_arm_host(i)) return rejected(i, Lost::friction, assumptions.because("arm-host"));
    if (is_trainium(a)) {
        if (request.job.mission_critical) {
            return rejected(i, Lost::friction, assumptions.because("trainium-critical"));
        }
        if (!request.job.trainium_ok) {
            return rejected(i, Lost::friction, assumptions.because("trainium-friction"));
        }
        if (!assumptions.neuron_support(request.job.model.family)) {
            return rejected(i, Lost::friction,
                            "model family \"" + request.job.model.family +
                                "\" is not in the list of models that train on Neuron");
        }
    }
    return std::nullopt;
}

}  // namespace

Admission admit(const catalog::Instance& i, const Request& request, const catalog::Catalog& catalog,
                const Assumptions& a, Rules rules) {
    const catalog::Accelerator* acc = catalog.accelerator(i.accelerator);
    if (acc == nullptr || i.accelerators < 1) {
        return {{}, rejected(i, Lost::unknown_facts, "has no whole accelerator")};
    }
    if (acc->vendor != "NVIDIA" && !is_trainium(*acc)) {
        return {{}, rejected(i, Lost::friction, acc->name + " " + a.because("no-stack"))};
    }
    const std::vector<std::string>& wanted = request.accelerators;
    if (rules == Rules::all && !wanted.empty() &&
        std::find(wanted.begin(), wanted.end(), acc->id) == wanted.end()) {
        return {{}, rejected(i, Lost::friction, "not the accelerator that you asked for")};
    }
    const auto precision = precision_of(*acc, request.job, rules);
    if (!precision) return {{}, no_precision(i, *acc, request.job, a)};
    if (rules == Rules::all) {
        if (auto no = preference(i, *acc, request, a)) return {{}, std::move(no)};
        if (!cheapest_rate(i, regions_of(request.job), catalog)) {
            return {{}, rejected(i, Lost::no_price, "no price known in the allowed regions")};
        }
    }
    return {Eligible{&i, acc, *precision}, {}};
}

std::vector<Eligible> eligible_types(const Request& request, const catalog::Catalog& catalog,
                                     const Assumptions& a, std::vector<Rejection>& rejections) {
    const std::vector<std::string> regions = regions_of(request.job);
    const bool host_matters =
        request.job.model.opaque_params.has_value();  // input pipelines need vCPUs
    using Key = std::tuple<std::string, int, int>;
    std::map<Key, Eligible> single;
    std::vector<Eligible> out;
    for (const catalog::Instance& i : catalog.instances()) {
        if (i.accelerators < 1) continue;
        const bool named = request.job.instance && i.type == *request.job.instance;
        Admission admission = admit(i, request, catalog, a, named ? Rules::only_facts : Rules::all);
        if (admission.rejection) rejections.push_back(std::move(*admission.rejection));
        if (!admission.eligible) continue;
        const Eligible e = *admission.eligible;
        if (spans_nodes(i) || host_matters || named) {
            out.push_back(e);
            continue;
        }
        const Key key{i.accelerator, i.accelerators, static_cast<int>(i.intra_link)};
        const auto [it, fresh] = single.emplace(key, e);
        if (fresh) continue;
        Eligible& kept = it->second;
        const auto mine = firm_rate(i, regions, catalog);
        const auto best = firm_rate(*kept.instance, regions, catalog);
        const bool cheaper = mine && best && *mine < *best;
        const catalog::Instance& loser = cheaper ? *kept.instance : i;
        const catalog::Instance& winner = cheaper ? i : *kept.instance;
        rejections.push_back(
            rejected(loser, Lost::dominated,
                     "the same accelerators as " + winner.type + ", which is cheaper"));
        if (cheaper) kept = e;
    }
    for (const auto& [key, e] : single) out.push_back(e);
    std::sort(out.begin(), out.end(), [](const Eligible& x, const Eligible& y) {
        return x.instance->type < y.instance->type;
    });
    return out;
}

}  // namespace trainyard::plan
