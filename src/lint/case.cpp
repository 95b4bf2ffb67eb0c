#include <algorithm>

#include "model.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

const catalog::Catalog& embedded_catalog() {
    static const catalog::Catalog kCatalog = [] {
        auto loaded = catalog::Catalog::load({});
        TRAINYARD_ASSERT(loaded.has_value(), "the embedded tables are tested");
        return *std::move(loaded);
    }();
    return kCatalog;
}

std::string_view bare(std::string_view type) {
    return type.starts_with("ml.") ? type.substr(3) : type;
}

bool overlap(const std::vector<Said>& a, const std::vector<Said>& b) {
    return std::any_of(a.begin(), a.end(), [&](const Said& x) {
        return std::any_of(b.begin(), b.end(), [&](const Said& y) { return x.text == y.text; });
    });
}

}  // namespace

const catalog::Instance* Case::instance(std::string_view type) const {
    return catalog->instance(bare(type));
}

bool Case::has_family(std::string_view family) const {
    const auto& all = catalog->instances();
    return std::any_of(all.begin(), all.end(), [&](const auto& i) { return i.family == family; });
}

std::optional<UsdPerSecond> Case::price(std::string_view type) const {
    const auto found = catalog->price(bare(type), catalog::PurchaseType::on_demand, "us-east-1");
    return found ? std::optional(found->rate) : std::nullopt;
}

const catalog::Accelerator* Case::accelerator(std::string_view type) const {
    const catalog::Instance* i = instance(type);
    return i == nullptr || i->accelerator.empty() ? nullptr : catalog->accelerator(i->accelerator);
}

std::vector<const Pool*> Case::pools_of(const Job& job) const {
    std::vector<const Pool*> found;
    for (const Pool& p : pools) {
        const bool is_cluster = p.form == Pool::Form::karpenter || p.form == Pool::Form::eksctl ||
                                p.form == Pool::Form::node_group;
        if (!is_cluster || job.form != Job::Form::pod) continue;
        const bool has_devices = std::any_of(p.types.begin(), p.types.end(), [&](const Said& t) {
            return accelerator(t.text) != nullptr;
        });
        if (job.types.empty() ? has_devices && job.has_devices() : overlap(job.types, p.types)) {
            found.push_back(&p);
        }
    }
    return found;
}

std::vector<Said> Case::types_of(const Job& job) const {
    if (!job.types.empty()) return job.types;
    std::vector<Said> all;
    for (const Pool* p : pools_of(job)) all.insert(all.end(), p->types.begin(), p->types.end());
    return all;
}

std::vector<const Document*> Case::of_kind(Kind kind) const {
    std::vector<const Document*> found;
    for (const Document& d : documents) {
        if (d.kind == kind) found.push_back(&d);
    }
    return found;
}

std::vector<const Document*> Case::objects(std::string_view kind) const {
    std::vector<const Document*> found;
    for (const Document& d : documents) {
        if (d.kind == Kind::kubernetes && d.object_kind == kind) found.push_back(&d);
    }
    return found;
}

Case build_case(Documents documents) {
    Case c;
    c.catalog = &embedded_catalog();
    c.documents = std::move(documents);
    for (const Document& d : c.documents) {
        switch (d.kind) {
            case Kind::parallelcluster:
                read_parallelcluster(d, c);
                break;
            case Kind::eksctl:
                read_eksctl(d, c);
                break;
            case Kind::kubernetes:
                read_pods(d, c);
                break;
            case Kind::sagemaker_request:
            case Kind::sagemaker_python:
                read_sagemaker(d, c);
                break;
            case Kind::launch_template:
            case Kind::fleet:
            case Kind::run_instances:
            case Kind::aws_describe:
                read_ec2(d, c);
                break;
            case Kind::terraform:
            case Kind::terraform_plan:
                read_terraform(d, c);
                break;
            case Kind::cloudformation:
                read_cloudformation(d, c);
                break;
            case Kind::shell:
            case Kind::sbatch:
            case Kind::dockerfile:
                read_scripts(d, c);
                break;
            default:
                break;
        }
    }
    read_karpenter(c);
    return c;
}

std::vector<EnvVar> env_of_map(const Node* map) {
    std::vector<EnvVar> all;
    if (map == nullptr || !map->is(Node::Kind::map)) return all;
    for (const auto& [name, value] : map->members()) {
        if (const Said word = said(&value)) all.push_back({name, {word.text, key_of(value)}});
    }
    return all;
}

}  // namespace trainyard::lint
