#include "facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trainyard/base/text.hpp"

namespace trainyard::lint::facts {

using doc::Node;

const catalog::Instance* only(const Case& c, const std::vector<Said>& types) {
    if (types.empty()) return nullptr;
    for (const Said& t : types) {
        if (t.text != types.front().text) return nullptr;
    }
    return c.instance(types.front().text);
}

bool is_accelerated(const Case& c, std::string_view type) {
    const catalog::Instance* i = c.instance(type);
    return i != nullptr && !i->accelerator.empty();
}

Said accelerated(const Case& c, const std::vector<Said>& types) {
    const auto found = std::find_if(types.begin(), types.end(),
                                    [&](const Said& t) { return is_accelerated(c, t.text); });
    return found == types.end() ? Said{} : *found;
}

bool is_multi_card(const catalog::Instance& i) {
    return i.efa_interfaces > 1 || i.network_cards.value_or(1) > 1;
}

bool is_block_type(std::string_view type) {
    type = bare_type(type);
    for (const std::string_view family :
         {"p4d.", "p4de.", "p5.", "p5e.", "p5en.", "p6-", "trn1.", "trn2.", "trn2u."}) {
        if (type.starts_with(family)) return true;
    }
    return type.starts_with("p6e-");
}

bool is_kept(const Job& job) {
    return is_true(get(job.metadata, {"annotations", "karpenter.sh/do-not-disrupt"}));
}

bool has_gang(const Job& job) {
    for (const Node* meta : {get(job.object, "metadata"), job.metadata}) {
        for (const std::string_view part : {"labels", "annotations"}) {
            const Node* map = get(meta, part);
            if (map == nullptr) continue;
            for (const auto& [name, value] : map->members()) {
                if (name.starts_with("kueue.x-k8s.io/") || contains(name, "pod-group") ||
                    name.starts_with("scheduling.x-k8s.io/")) {
                    return true;
                }
            }
        }
    }
    const std::string scheduler = said(job.spec, {"schedulerName"}).text;
    const bool is_default = scheduler.empty() || scheduler == "default-scheduler";
    return !is_default || get(job.object, {"spec", "runPolicy", "schedulingPolicy"}) != nullptr ||
           job.document->api.starts_with("batch.volcano.sh");
}

Said checkpoint_dir(const std::vector<Said>& words) {
    for (const std::string_view name :
         {"ckpt-dir", "checkpoint-dir", "checkpoint-path", "checkpoint-folder", "save", "save-dir",
          "output-dir", "checkpoint.folder", "ckpt-path", "default-root-dir"}) {
        if (const Said found = option(words, name); found && !found.text.empty()) return found;
    }
    return {};
}

std::string_view bare_type(std::string_view type) {
    return type.starts_with("ml.") ? type.substr(3) : type;
}

std::string_view family_of(std::string_view type) {
    type = bare_type(type);
    return type.substr(0, type.find('.'));
}

const Node* volume_at(const Job& job, std::string_view path) {
    const Node* found = nullptr;
    std::size_t longest = 0;
    for (const Node* mount : each(get(job.container, "volumeMounts"))) {
        const std::string at = said(mount, {"mountPath"}).text;
        const bool is_above =
            path == at ||
            (path.starts_with(at) && (at == "/" || path.substr(at.size()).starts_with('/')));
        if (!is_above || at.size() < longest || at.empty()) continue;
        longest = at.size();
        const std::string name = said(mount, {"name"}).text;
        for (const Node* v : each(get(job.spec, "volumes"))) {
            if (said(v, {"name"}).text == name) found = v;
        }
    }
    return found;
}

std::vector<int> version_of(std::string_view text) {
    if (text.starts_with('v')) text.remove_prefix(1);
    std::vector<int> parts;
    for (const std::string_view part : split(text, '.')) {
        const auto n = whole_number(part.substr(0, part.find_first_not_of("0123456789")));
        if (!n || *n > 1'000'000) break;
        parts.push_back(static_cast<int>(*n));
    }
    return parts;
}

std::optional<double> gibibytes(std::string_view quantity) {
    const std::size_t end = quantity.find_first_not_of("0123456789.");
    const auto number = parse_number(quantity.substr(0, end));
    if (!number) return std::nullopt;
    const std::string_view unit = end == std::string_view::npos ? "" : quantity.substr(end);
    static constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1.0 / (1U << 30U)},
                                                                     {"Mi", 1.0 / 1024},
                                                                     {"Gi", 1},
                                                                     {"Ti", 1024},
                                                                     {"M", 1e6 / (1U << 30U)},
                                                                     {"G", 1e9 / (1U << 30U)},
                                                                     {"T", 1e12 / (1U << 30U)}};
    for (const auto& [name, size] : kUnits) {
        if (unit == name) return *number * size;
    }
    return std::nullopt;
}

std::optional<Seconds> slurm_time(std::string_view text) {
    double days = 0;
    const std::size_t dash = text.find('-');
    const bool has_days = dash != std::string_view::npos;
    if (has_days) {
        const auto n = whole_number(text.substr(0, dash));
        if (!n || *n < 0) return std::nullopt;
        days = static_cast<double>(*n);
        text.remove_prefix(dash + 1);
    }
    std::vector<double> parts;
    for (const std::string_view part : split(text, ':')) {
        const auto n = whole_number(part);
        if (!n || *n < 0) return std::nullopt;
        parts.push_back(static_cast<double>(*n));
    }
    if (parts.empty() || parts.size() > 3) return std::nullopt;
    // Behind days: hours first. Else one part is minutes, two are minutes and seconds.
    const bool has_hours = has_days || parts.size() == 3;
    if (!has_hours) parts.insert(parts.begin(), 0);
    parts.resize(3);
    return days * kDay + parts[0] * kHour + parts[1] * kMinute + parts[2] * kSecond;
}

std::optional<NodeLimit> node_limit(const Pool& p, const catalog::Instance& i) {
    std::optional<NodeLimit> found;
    const auto take = [&](std::string_view key, const Said& limit, std::int64_t nodes) {
        if (!found || nodes < found->nodes) found = NodeLimit{std::string(key), limit, nodes};
    };
    const auto consider = [&](std::string_view key, std::int64_t per_node) {
        const auto limit = count(p.node, {"spec", "limits", key});
        if (!limit || per_node <= 0) return;
        take(key, {std::to_string(limit->value), limit->where}, limit->value / per_node);
    };
    consider("cpu", i.vcpu);
    consider("nvidia.com/gpu", i.accelerators);
    consider("aws.amazon.com/neuron", i.accelerators);
    consider("nodes", 1);
    const Said memory = said(p.node, {"spec", "limits", "memory"});
    const auto all = gibibytes(memory.text);
    if (memory && all && i.memory / kGiB > 0) {
        take("memory", memory, static_cast<std::int64_t>(std::min(*all / (i.memory / kGiB), 1e9)));
    }
    return found;
}

const Pool* spot_queue(const Case& c, std::string_view partition) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::parallelcluster || !p.purchase.is("spot")) continue;
        const std::string queue = said(p.outer, {"Name"}).text;
        if (partition.empty() || queue == partition) return &p;
    }
    return nullptr;
}

std::string per_hour(std::optional<UsdPerSecond> rate) {
    return rate ? fmt::format("${:.2f}/h", *rate / kUsdPerHour) : std::string();
}

}  // namespace trainyard::lint::facts
