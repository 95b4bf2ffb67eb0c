// The "run" object: a run to be simulated, as data. Units are in the key names.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/plan/plan.hpp"
#include "trainyard/spot/policy.hpp"
#include "trainyard/spot/simulate.hpp"

namespace trainyard::plan {
namespace {

using doc::MapReader;
using doc::Node;

constexpr doc::NumberRange kPositive{.min = 1e-9, .max = 1e15};
constexpr doc::NumberRange kNotNegative{.min = 0, .max = 1e15};
constexpr doc::NumberRange kShare{.min = 0, .max = 1};
/// As simulate() takes them (src/spot/check_run.cpp).
constexpr doc::NumberRange kShape{.min = 0.05, .max = 100};
constexpr std::int64_t kMostNodes = 1'000'000;

const std::vector<std::pair<std::string, spot::Purchase>> kPurchases = {
    {"spot", spot::Purchase::spot},
    {"on_demand", spot::Purchase::on_demand},
    {"reserved", spot::Purchase::reserved},
    {"capacity_block", spot::Purchase::capacity_block}};

Node process_node(const spot::PoolProcess& p) {
    Node n = Node::map();
    n.set("name", p.name)
        .set("up_scale_s", p.up.scale / kSecond)
        .set("up_shape", p.up.shape)
        .set("down_scale_s", p.down.scale / kSecond)
        .set("down_shape", p.down.shape);
    n.set("start_up_probability", p.start_up)
        .set("gang_share", p.gang_share)
        .set("burst_nodes", p.burst)
        .set("single_per_node_hour", p.single_per_hour);
    n.set("source", p.source.text).set("as_of", p.source.as_of).set("status", p.source.status);
    return n;
}

Node pool_node(const spot::Pool& p) {
    Node n = Node::map();
    n.set("name", p.name);
    for (const auto& [word, purchase] : kPurchases) {
        if (purchase == p.purchase) n.set("purchase", word);
    }
    n.set("usd_per_instance_hour", p.price / kUsdPerHour);
    if (!p.zone.empty()) n.set("zone", p.zone);
    if (p.limit < spot::Pool{}.limit) n.set("limit_nodes", p.limit);
    if (p.window > Seconds{}) n.set("window_s", p.window / kSecond);
    if (p.process) n.set("process", process_node(*p.process));
    return n;
}

double number(MapReader& r, std::string_view key, doc::NumberRange range, double otherwise) {
    return r.optional_number(key, range).value_or(otherwise);
}
Seconds seconds(MapReader& r, std::string_view key, Seconds otherwise = {}) {
    return number(r, key, kNotNegative, otherwise / kSecond) * kSecond;
}
double required(MapReader& r, std::string_view key, doc::NumberRange range) {
    if (!r.has(key)) r.error(key, std::string(key) + " is missing");
    return r.optional_number(key, range).value_or(1);
}

spot::PoolProcess read_process(const Node& node, std::vector<Diagnostic>& out) {
    MapReader r(node, out);
    spot::PoolProcess p;
    p.name = r.optional_string("name").value_or("");
    p.up = {required(r, "up_scale_s", kPositive) * kSecond, number(r, "up_shape", kShape, 1)};
    p.down = {required(r, "down_scale_s", kPositive) * kSecond, number(r, "down_shape", kShape, 1)};
    p.start_up = number(r, "start_up_probability", kShare, 1);
    p.gang_share = number(r, "gang_share", kShare, 1);
    p.burst = number(r, "burst_nodes", {.min = 1, .max = 1e6}, 1);
    p.single_per_hour = number(r, "single_per_node_hour", kNotNegative, 0);
    p.source.text = r.optional_string("source").value_or("");
    p.source.as_of = r.optional_string("as_of").value_or("");
    p.source.status = r.optional_string("status").value_or("assumed");
    r.finish(doc::UnknownKeys::error);
    return p;
}

spot::Pool read_pool(const Node& node, std::vector<Diagnostic>& out) {
    MapReader r(node, out);
    spot::Pool p;
    p.name = r.string("name");
    p.zone = r.optional_string("zone").value_or("");
    std::vector<std::string> words;
    for (const auto& [word, purchase] : kPurchases) words.push_back(word);
    if (!r.has("purchase")) r.error("purchase", "purchase is missing");
    const auto chosen = r.optional_choice("purchase", words);
    for (const auto& [word, purchase] : kPurchases) {
        if (chosen && word == *chosen) p.purchase = purchase;
    }
    p.price = required(r, "usd_per_instance_hour", {.min = 0, .max = 1e6}) * kUsdPerHour;
    p.limit = static_cast<int>(
        r.optional_integer("limit_nodes", {.min = 1, .max = kMostNodes}).value_or(p.limit));
    p.window = seconds(r, "window_s");
    if (const Node* process = r.node("process")) {
        if (process->is(Node::Kind::map)) {
            p.process = read_process(*process, out);
        } else {
            r.error("process", "process is not a map");
        }
    }
    r.finish(doc::UnknownKeys::error);
    if (chosen && p.purchase == spot::Purchase::spot && !p.process)
        r.error("process", "a spot pool needs its process",
                "copy it from the JSON of trainyard plan, or give --trace");
    return p;
}

void read_checkpoints(const Node& node, spot::Checkpoints& k, std::vector<Diagnostic>& out) {
    MapReader r(node, out);
    k.blocking = required(r, "blocking_s", kNotNegative) * kSecond;
    k.persist = required(r, "persist_s", kNotNegative) * kSecond;
    k.on_notice = seconds(r, "on_notice_s");
    k.restore_s3 = required(r, "restore_s3_s", kNotNegative) * kSecond;
    k.restore_peer = seconds(r, "restore_peer_s", k.restore_s3);
    r.finish(doc::UnknownKeys::error);
}

/// A list of maps; anything else is a diagnostic.
template <typename Each>
void each_map(MapReader& r, std::string_view key, Each each) {
    const Node* list = r.node(key);
    if (list == nullptr || !list->is(Node::Kind::list) || list->items().empty()) {
        r.error(key, std::string(key) + " is not a list of maps");
        return;
    }
    for (const Node& item : list->items()) {
        if (item.is(Node::Kind::map)) {
            each(item);
        } else {
            r.error(key, "an entry of " + std::string(key) + " is not a map");
        }
    }
}

void read_speed(MapReader& r, spot::RunSpec& s) {
    const Node* list = r.node("speed");
    if (list == nullptr) return;
    const auto is_speed = [](const Node& item) {
        return item.is_numeric() && item.as_number() > 0 && item.as_number() <= 1;
    };
    const auto& items = list->items();
    if (!list->is(Node::Kind::list) || !std::all_of(items.begin(), items.end(), is_speed)) {
        r.error("speed", "speed is no list of numbers above 0 and at most 1",
                "one number per node count, 1 at full size");
        return;
    }
    for (const Node& item : items) s.speed.push_back(item.as_number());
    if (!s.speed.empty() && s.nodes > 0 && s.speed.size() != static_cast<std::size_t>(s.nodes))
        r.error("speed", "speed has " + std::to_string(s.speed.size()) + " entries for " +
                             std::to_string(s.nodes) + " nodes");
}

std::string read_policy(MapReader& r) {
    std::string name = r.string("policy");
    if (!r.has("policy") || name.empty() || spot::make_policy(name) != nullptr) return name;
    std::vector<std::string> known;
    for (const spot::PolicyInfo& info : spot::policies()) known.push_back(info.name);
    const auto near = nearest(name.substr(0, name.find(':')), known);
    std::string all;
    for (const std::string& k : known) all += (all.empty() ? "one of: " : ", ") + k;
    r.error("policy", "policy: there is no policy \"" + printable(name, 60) + "\"",
            near && *near != name ? "did you mean \"" + *near + "\"? " + all : all);
    return name;
}

}  // namespace

Node run_json(const Run& run) {
    const spot::RunSpec& s = run.spec;
    Node n = Node::map();
    n.set("name", s.name)
        .set("work_s", s.work / kSecond)
        .set("step_time_low", s.step_time.low)
        .set("step_time_high", s.step_time.high)
        .set("nodes", s.nodes)
        .set("min_nodes", s.min_nodes)
        .set("policy", run.policy);
    if (!s.speed.empty()) {
        Node speed = Node::list();
        for (double v : s.speed) speed.append(Node::number(v));
        n.set("speed", std::move(speed));
    }
    n.set("boot_s", s.start.boot / kSecond)
        .set("image_s", s.start.image / kSecond)
        .set("framework_s", s.start.framework / kSecond)
        .set("reshard_s", s.reshard / kSecond);
    const spot::Checkpoints& k = s.checkpoints;
    Node c = Node::map();
    c.set("blocking_s", k.blocking / kSecond)
        .set("persist_s", k.persist / kSecond)
        .set("on_notice_s", k.on_notice / kSecond);
    c.set("restore_s3_s", k.restore_s3 / kSecond).set("restore_peer_s", k.restore_peer / kSecond);
    n.set("checkpoint", std::move(c));
    n.set("failures_per_node_hour", s.failures_per_node_hour)
        .set("node_replacement_s", s.node_replacement / kSecond);
    if (s.deadline) n.set("deadline_s", *s.deadline / kSecond);
    if (s.budget) n.set("budget_usd", *s.budget / kUsd);
    n.set("other_usd", s.other / kUsd);
    Node pools = Node::list();
    for (const spot::Pool& p : s.pools) pools.append(pool_node(p));
    n.set("pools", std::move(pools));
    return n;
}

Result<Run> read_run(const Node& run) {
    std::vector<Diagnostic> out;
    MapReader r(run, out);
    spot::RunSpec s;
    s.name = r.optional_string("name").value_or("run");
    s.work = required(r, "work_s", kPositive) * kSecond;
    s.step_time.low = number(r, "step_time_low", {.min = 0.01, .max = 1}, 1);
    s.step_time.high = number(r, "step_time_high", {.min = 1, .max = 100}, 1);
    s.nodes = static_cast<int>(r.integer("nodes", {.min = 1, .max = kMostNodes}));
    // A wrong number of nodes is one mistake, not two.
    const std::int64_t most = s.nodes > 0 ? s.nodes : kMostNodes;
    s.min_nodes = static_cast<int>(
        r.optional_integer("min_nodes", {.min = 1, .max = most}).value_or(s.nodes));
    std::string policy = read_policy(r);
    read_speed(r, s);
    s.start = {seconds(r, "boot_s"), seconds(r, "image_s"), seconds(r, "framework_s")};
    s.reshard = seconds(r, "reshard_s");
    if (const Node* k = r.node("checkpoint"); k == nullptr) {
        r.error("checkpoint", "checkpoint is missing",
                "copy it from the JSON of trainyard plan: blocking_s, persist_s, restore_s3_s");
    } else if (k->is(Node::Kind::map)) {
        read_checkpoints(*k, s.checkpoints, out);
    } else {
        r.error("checkpoint", "checkpoint is not a map", "write its times by name");
    }
    s.failures_per_node_hour = number(r, "failures_per_node_hour", kNotNegative, 0);
    s.node_replacement = seconds(r, "node_replacement_s");
    if (const auto v = r.optional_number("deadline_s", kPositive)) s.deadline = *v * kSecond;
    if (const auto v = r.optional_number("budget_usd", kPositive)) s.budget = *v * kUsd;
    s.other = number(r, "other_usd", kNotNegative, 0) * kUsd;
    each_map(r, "pools", [&](const Node& p) { s.pools.push_back(read_pool(p, out)); });
    if (s.pools.size() > spot::kMostPools)
        r.error("pools", std::to_string(s.pools.size()) + " pools are too many",
                "give at most " + std::to_string(spot::kMostPools) +
                    ", the cheapest ones: more cost time and change little");
    r.finish(doc::UnknownKeys::error);
    for (const Diagnostic& d : out) {
        if (d.severity == Severity::error) return bad_input(std::move(out));
    }
    return Run{std::move(s), std::move(policy)};
}

}  // namespace trainyard::plan
