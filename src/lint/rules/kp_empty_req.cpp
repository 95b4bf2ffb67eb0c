// Requirements that no instance type meets.

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "facts.hpp"
#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::kp_empty_req {

namespace {

bool looks_accelerated(std::string_view family) {
    for (const std::string_view start : {"p", "g", "trn", "inf", "dl"}) {
        if (family.starts_with(start) && family.size() > start.size() &&
            family[start.size()] >= '0' && family[start.size()] <= '9') {
            return true;
        }
    }
    return false;
}

/// Families that EC2 has (or had) and our catalogue leaves out.
bool is_left_out(std::string_view family) { return is_one_of(family, {"g2", "g3", "g3s", "p1"}); }

std::string like(const Case& c, std::string_view family) {
    std::set<std::string> all;
    for (const catalog::Instance& i : c.catalog->instances()) {
        if (i.family.starts_with(family)) all.insert(i.family);
    }
    return fmt::format("{}", fmt::join(all, ", "));
}

void judge(const Case& c, const Said& key, const Said& value, Found& found) {
    if (is_open(value.text)) return;
    if (key.is("karpenter.k8s.aws/instance-family")) {
        if (!looks_accelerated(value.text) || c.has_family(value.text)) return;
        if (is_left_out(value.text)) return;
        const std::string others = like(c, value.text);
        Finding& f =
            found.at(value, fmt::format("instance family \"{}\" does not exist", value.text));
        if (!others.empty()) f.fix = "use " + others;
        return;
    }
    const std::string_view family = facts::family_of(value.text);
    if (!looks_accelerated(family) || is_left_out(family)) return;
    if (c.instance(value.text) != nullptr || value.text.find('.') == std::string::npos) return;
    Finding& f = found.at(value, fmt::format("instance type \"{}\" does not exist", value.text));
    const auto near = c.catalog->nearest_instance(value.text);
    if (near) f.fix = "did you mean " + *near + "?";
}

struct Wanted {
    std::vector<Said> types, families, sizes, gpu_names, gpu_counts;
};

/// In requirements of a pool.
Wanted wanted_of(const doc::Node* requirements) {
    Wanted w;
    for (const doc::Node* r : each(requirements)) {
        if (!said(r, {"operator"}).is("In")) continue;
        const std::string key = said(r, {"key"}).text;
        std::vector<Said>* into = key == "node.kubernetes.io/instance-type"       ? &w.types
                                  : key == "karpenter.k8s.aws/instance-family"    ? &w.families
                                  : key == "karpenter.k8s.aws/instance-size"      ? &w.sizes
                                  : key == "karpenter.k8s.aws/instance-gpu-name"  ? &w.gpu_names
                                  : key == "karpenter.k8s.aws/instance-gpu-count" ? &w.gpu_counts
                                                                                  : nullptr;
        if (into != nullptr) *into = all_said(get(r, "values"));
    }
    return w;
}

bool allows(const std::vector<Said>& values, std::string_view value) {
    return values.empty() || std::any_of(values.begin(), values.end(), [&](const Said& s) {
               return s.text == value || is_open(s.text);
           });
}

/// Each value exists, but no type has them all. Only where the types that we know are all there
/// are: families of accelerators.
void judge_together(const Case& c, const Wanted& w, Found& found) {
    const std::vector<Said>& named = w.types.empty() ? w.families : w.types;
    const bool is_known =
        !named.empty() && std::all_of(named.begin(), named.end(), [&](const Said& s) {
            return w.types.empty() ? looks_accelerated(s.text) && c.has_family(s.text)
                                   : c.accelerator(s.text) != nullptr;
        });
    const bool is_gpu = !w.gpu_counts.empty() || !w.gpu_names.empty();
    const Said* last = !w.gpu_counts.empty()  ? &w.gpu_counts.front()
                       : !w.gpu_names.empty() ? &w.gpu_names.front()
                       : !w.sizes.empty()     ? &w.sizes.front()
                                              : nullptr;
    if (!is_known || last == nullptr) return;
    for (const catalog::Instance& i : c.catalog->instances()) {
        const catalog::Accelerator* a = c.accelerator(i.type);
        if (a == nullptr || i.retired) continue;
        const std::string name = to_lower(a->id.substr(0, a->id.find('-')));
        const bool fits = allows(w.types, i.type) && allows(w.families, i.family) &&
                          allows(w.sizes, i.type.substr(i.type.find('.') + 1)) &&
                          allows(w.gpu_names, name) &&
                          allows(w.gpu_counts, std::to_string(i.accelerators));
        if (fits) return;
    }
    found.at(*last, fmt::format("no {} meets the requirements together: {} = {}",
                                named.front().text, is_gpu ? "GPUs" : "size", last->text));
}

/// Capacity types and architectures have few names.
void judge_word(const Said& key, const Said& value, Found& found) {
    const bool is_capacity = key.is("karpenter.sh/capacity-type");
    if ((!is_capacity && !key.is("kubernetes.io/arch")) || is_open(value.text)) return;
    const bool exists = is_capacity ? is_one_of(value.text, {"spot", "on-demand", "reserved"})
                                    : is_one_of(value.text, {"amd64", "arm64"});
    if (exists) return;
    Finding& f =
        found.at(value, fmt::format("{} \"{}\" does not exist",
                                    is_capacity ? "capacity type" : "architecture", value.text));
    f.fix = is_capacity ? "spot, on-demand or reserved" : "amd64 or arm64";
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.objects("NodePool")) {
        const doc::Node* requirements = get(&d->root, {"spec", "template", "spec", "requirements"});
        judge_together(c, wanted_of(requirements), found);
        for (const doc::Node* r : each(requirements)) {
            if (!said(r, {"operator"}).is("In")) continue;
            const Said key = said(r, {"key"});
            const bool is_meant = is_one_of(key.text, {"karpenter.k8s.aws/instance-family",
                                                       "node.kubernetes.io/instance-type"});
            for (const Said& value : all_said(get(r, "values"))) {
                judge_word(key, value, found);
                if (is_meant) judge(c, key, value, found);
            }
        }
    }
    for (const Job& job : c.jobs) {
        for (const Said& type : job.types) judge(c, Said{"type", type.where}, type, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-EMPTY-REQ",
            .severity = Severity::error,
            .title = "A requirement that matches no instance type",
            .applies = "Karpenter NodePools, pods",
            .why =
                "pods that need this pool stay Pending until they time out, and nothing"
                " says why",
            .fix = "use the label as EC2 names it",
            .source = "Karpenter documentation, instance types; data/catalog/instances.csv",
            .find = find};
}

}  // namespace trainyard::lint::kp_empty_req
