#include <algorithm>

#include "launch.hpp"
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

const std::vector<const Pool*>& Case::pools_of(const Job& job) const {
    return job_pools[static_cast<std::size_t>(&job - jobs.data())];
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

namespace {

/// Characters of the directories that two paths share, whole names only.
std::size_t shared_directory(std::string_view a, std::string_view b) {
    std::size_t shared = 0;
    for (std::size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) {
        if (a[i] == '/') shared = i + 1;
    }
    return shared;
}

struct PoolIndex {
    std::map<std::string_view, std::vector<const Pool*>> by_type;
    std::vector<const Pool*> accelerated;

    explicit PoolIndex(const Case& c) {
        for (const Pool& p : c.pools) {
            const bool is_cluster = p.form == Pool::Form::karpenter ||
                                    p.form == Pool::Form::eksctl ||
                                    p.form == Pool::Form::node_group;
            if (!is_cluster) continue;
            bool has_devices = false;
            for (const Said& t : p.types) {
                auto& list = by_type[t.text];
                if (list.empty() || list.back() != &p) list.push_back(&p);
                has_devices = has_devices || c.accelerator(t.text) != nullptr;
            }
            if (has_devices) accelerated.push_back(&p);
        }
    }

    std::vector<const Pool*> matching(const Job& job) const {
        if (job.form != Job::Form::pod) return {};
        if (job.types.empty()) return job.has_devices() ? accelerated : std::vector<const Pool*>{};
        std::vector<const Pool*> found;
        for (const Said& t : job.types) {
            const auto at = by_type.find(t.text);
            if (at == by_type.end()) continue;
            found.insert(found.end(), at->second.begin(), at->second.end());
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }
};

void relate(Case& c) {
    const PoolIndex index(c);
    for (const Job& job : c.jobs) {
        std::vector<const Pool*> all = index.matching(job);
        std::size_t nearest = 0;
        const auto nearness = [&](const Pool* p) {
            return shared_directory(p->document->source->path, job.document->source->path);
        };
        for (const Pool* p : all) nearest = std::max(nearest, nearness(p));
        std::erase_if(all, [&](const Pool* p) { return nearness(p) < nearest; });
        c.job_pools.push_back(std::move(all));
    }
}

}  // namespace

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
    for (const Document& d : c.documents) {
        if (d.kind == Kind::nccl_log) read_nccl_log(d, c);
    }
    relate(c);
    c.launches = std::make_shared<const std::vector<Launch>>(find_launches(c));
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
