#include "command_plan_place.hpp"

#include <set>
#include <string>

#include "trainyard/base/text.hpp"

namespace trainyard::cli {
namespace {

std::string joined(const std::set<std::string>& words) {
    std::string out;
    for (const std::string& w : words) out += (out.empty() ? "" : ", ") + w;
    return out;
}

/// "p5" is the family of p5.48xlarge; "H100" the accelerator H100-80.
std::set<std::string> matching_types(const std::string& word, const catalog::Catalog& catalog) {
    const std::string asked = to_lower(word);
    std::set<std::string> types;
    for (const catalog::Instance& i : catalog.instances()) {
        if (i.accelerators < 1) continue;
        const std::string id = to_lower(i.accelerator);
        const bool device = id == asked || id.starts_with(asked + "-");
        if (to_lower(i.family) == asked || device) types.insert(i.type);
    }
    return types;
}

std::optional<Diagnostic> type_mistake(const std::string& type, const std::string& key,
                                       const catalog::Catalog& catalog) {
    if (catalog.instance(type) != nullptr) return std::nullopt;
    const std::set<std::string> types = matching_types(type, catalog);
    if (types.empty()) return std::nullopt;
    Diagnostic d;
    d.where.file = key;
    d.what = '"' + type + "\" is no instance type";
    d.fix = "write one of " + joined(types);
    return d;
}

/// Regions that start like the word ("europe" -> "eu-"), or all.
std::optional<Diagnostic> region_mistake(const std::string& wanted,
                                         const catalog::Catalog& catalog) {
    std::set<std::string> all;
    std::set<std::string> alike;
    const std::string start = to_lower(wanted).substr(0, 2) + "-";
    for (const catalog::Price& p : catalog.prices()) {
        if (p.region == wanted) return std::nullopt;
        // Region names have two dashes; Local Zones more, other providers' places fewer.
        const bool regional = split(p.region, '-').size() == 3;
        if (p.provider != "AWS" || !regional) continue;
        all.insert(p.region);
        if (p.region.starts_with(start)) alike.insert(p.region);
    }
    if (nearest(wanted, std::vector<std::string>(all.begin(), all.end()))) return std::nullopt;
    Diagnostic d;
    d.where.file = "regions";
    d.what = "no price is known for \"" + wanted + '"';
    d.fix = "write one of " + joined(alike.empty() ? all : alike);
    return d;
}

}  // namespace

Result<std::vector<std::string>> accelerator_ids(const std::string& name,
                                                 const catalog::Catalog& catalog) {
    const std::string asked = to_lower(name);
    const catalog::Accelerator* exact = catalog.accelerator(name);
    std::set<std::string> rented;
    std::vector<std::string> ids;
    for (const catalog::Instance& i : catalog.instances()) {
        const std::string id = to_lower(i.accelerator);
        if (i.accelerators < 1 || !rented.insert(i.accelerator).second) continue;
        if (exact != nullptr ? i.accelerator == exact->id
                             : id == asked || id.starts_with(asked + "-"))
            ids.push_back(i.accelerator);
    }
    // "Trainium" is no id, but what everyone calls Trn1 to Trn3.
    const bool ids_by_name = ids.empty() && asked.size() > 2;
    for (const std::string& id : rented) {
        const catalog::Accelerator* a = ids_by_name ? catalog.accelerator(id) : nullptr;
        if (a != nullptr && to_lower(a->name).find(asked) != std::string::npos) ids.push_back(id);
    }
    if (!ids.empty()) return ids;
    Diagnostic d;
    d.where.file = "--accelerator";
    d.what = "no instance type has an accelerator \"" + name + '"';
    d.fix = "write one of " + joined(rented);
    return bad_input(std::move(d));
}

std::optional<Diagnostic> place_mistake(const plan::Request& request,
                                        const catalog::Catalog& catalog) {
    if (request.job.instance) {
        if (auto d = type_mistake(*request.job.instance, "instance", catalog)) return d;
    }
    if (request.have) {
        if (auto d = type_mistake(request.have->instance, "--have", catalog)) return d;
    }
    for (const std::string& type : request.why_not) {
        if (auto d = type_mistake(type, "why-not", catalog)) return d;
    }
    for (const std::string& region : request.job.regions) {
        if (auto d = region_mistake(region, catalog)) return d;
    }
    return std::nullopt;
}

}  // namespace trainyard::cli
