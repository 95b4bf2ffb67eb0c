#include "trainyard/agent/group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trainyard/base/text.hpp"

namespace trainyard::agent {

namespace {

using State = NodeRecord::State;
using Level = action::Say::Level;

const NodeRecord* find(const std::map<std::string, const NodeRecord*>& records,
                       const std::string& name) {
    const auto at = records.find(name);
    return at == records.end() ? nullptr : at->second;
}

std::optional<Ending> ending_named(std::string_view word) {
    for (const Ending ending : {Ending::done, Ending::world, Ending::preempted, Ending::poison_step,
                                Ending::out_of_restarts, Ending::out_of_budget, Ending::idle,
                                Ending::stopped, Ending::bad_loss, Ending::interrupted}) {
        if (name(ending) == word) return ending;
    }
    return std::nullopt;
}

GroupPlace place_in(const Generation& g, int rank) {
    const Generation::Node& first = g.nodes.front();
    return {.generation = g.number,
            .rank = rank,
            .nodes = static_cast<int>(g.nodes.size()),
            .first_address = first.address,
            .first_port = first.port,
            .from = g.from,
            .is_shared = g.is_shared,
            .reason = g.reason};
}

}  // namespace

std::optional<int> Generation::rank_of(std::string_view name, std::string_view token) const {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].name == name && nodes[i].token == token) return static_cast<int>(i);
    }
    return std::nullopt;
}

std::optional<bool> shares_directory(const std::vector<const NodeRecord*>& nodes) {
    std::size_t seen = 0;
    for (const NodeRecord* node : nodes) {
        for (const NodeRecord* other : nodes) {
            const auto& names = node->neighbours;
            if (std::find(names.begin(), names.end(), other->name) != names.end()) ++seen;
        }
    }
    if (nodes.size() > 1 && seen == nodes.size() * nodes.size()) return true;
    if (seen <= nodes.size()) return false;  // each its own, or none has a directory
    return std::nullopt;
}

double Group::cost_of_others(const GroupView& view, std::string_view self) {
    double cost = 0;
    for (const GroupView::Seen& seen : view.nodes) {
        if (seen.record.name != self) cost += seen.record.cost_usd;
    }
    return cost;
}

void Group::blind(Instant now) {
    // As if every beat had just changed: patience begins again.
    for (auto& [name, sign] : signs_) {
        if (sign.changed) sign.changed = now;
    }
    enough_.reset();
}

void Group::take_signs(const GroupView& view, Instant now) {
    for (const GroupView::Seen& seen : view.nodes) {
        const auto [at, is_new] = signs_.try_emplace(seen.record.name);
        Sign& sign = at->second;
        if (!is_new && sign.beat != seen.beat) sign.changed = now;
        sign.beat = seen.beat;
        if (!seen.record.leaves_in) {
            sign.leaves.reset();
        } else if (!sign.leaves) {
            sign.leaves = now + *seen.record.leaves_in;
        }
    }
}

bool Group::is_live(const NodeRecord& record, Instant now) const {
    if (record.state == State::left) return false;
    if (record.name == settings_.self) return true;
    const auto at = signs_.find(record.name);
    return at != signs_.end() && at->second.changed &&
           now - *at->second.changed < settings_.patience;
}

void Group::say_once(const std::string& text, std::vector<Event>& out) {
    if (text == said_) return;
    said_ = text;
    if (!text.empty()) out.emplace_back(event::Remark{text, Level::info, "group"});
}

std::vector<Event> Group::look(const GroupView& view, NodeRecord& own, Instant now) {
    std::vector<Event> out;
    proposal_.reset();
    own.grows = 0;
    take_signs(view, now);
    Records records;
    for (const GroupView::Seen& seen : view.nodes) {
        if (seen.record.name != own.name) {
            records[seen.record.name] = &seen.record;
            continue;
        }
        const bool is_mine = seen.record.token == own.token;
        if (!is_mine && has_seen_itself_) {
            say_once(
                "another machine calls itself " + own.name + " too: give each its own --node-name",
                out);
        }
        has_seen_itself_ = has_seen_itself_ || is_mine;
    }
    records[own.name] = &own;
    if (own.state != State::ready) ready_.reset();
    if (own.state == State::ready) {
        look_as_candidate(view, records, own, now, out);
    } else if (own.state != State::left) {
        look_as_worker(view, records, own, now, out);
    }
    return out;
}

void Group::regroup(const std::string& why, std::optional<Instant> deadline,
                    std::vector<Event>& out) {
    const bool is_told = ended_generation_ == told_generation_ && told_generation_ != 0;
    if (is_told && (deadline || ended_at_once_)) return;
    ended_generation_ = told_generation_;
    ended_at_once_ = !deadline;
    out.emplace_back(event::Regroup{why, deadline});
}

void Group::look_as_worker(const GroupView& view, const Records& records, NodeRecord& own,
                           Instant now, std::vector<Event>& out) {
    told_generation_ = own.generation;
    if (!view.newest || view.newest->number < own.generation) return;
    const Generation& g = *view.newest;
    if (g.number > own.generation || !g.rank_of(own.name, own.token)) {
        return regroup("the other nodes went on without this one", std::nullopt, out);
    }
    if (!began_) began_ = now;
    bool all_done = own.state == State::done;
    for (const Generation::Node& node : g.nodes) {
        if (node.name == own.name) continue;
        look_at_node(g, node, records, now, out);
        const NodeRecord* r = find(records, node.name);
        all_done = all_done && r != nullptr && r->generation == g.number &&
                   (r->state == State::done ||
                    (r->state == State::left && ending_named(r->ending) == Ending::done));
    }
    const NodeRecord* first = find(records, g.nodes.front().name);
    if (first != nullptr && first != &own && first->generation == g.number) {
        look_at_first(*first, own, out);
    }
    if (all_done && !told_done_) {
        told_done_ = true;
        out.emplace_back(event::GroupDone{});
    }
    if (own.state == State::working) look_for_more(g, records, own, now, out);
}

/// Whether this node ends the run for all.
bool Group::look_for_end(const NodeRecord& node, std::vector<Event>& out) {
    const auto ending = ending_named(node.ending);
    if (!node.ends_all || !ending) return false;
    if (told_ending_.empty()) {
        told_ending_ = node.ending;
        out.emplace_back(
            event::GroupEnds{*ending, fmt::format("node {}: {}", node.name, node.cause)});
    }
    return true;
}

/// What one other node of the generation means for this one.
void Group::look_at_node(const Generation& generation, const Generation::Node& node,
                         const Records& records, Instant now, std::vector<Event>& out) {
    const NodeRecord* r = find(records, node.name);
    if (r == nullptr || r->token != node.token) {
        return regroup(fmt::format("node {} is gone", node.name), std::nullopt, out);
    }
    if (r->generation == generation.number && look_for_end(*r, out)) return;
    if (r->generation == generation.number && r->state == State::left) {
        if (ending_named(r->ending) == Ending::done) return;
        return regroup(fmt::format("node {} left: {}", r->name, r->cause), std::nullopt, out);
    }
    if (!is_live(*r, now)) {
        const bool may_be_new = began_ && now - *began_ < settings_.patience;
        if (may_be_new && r->state != State::left) return;
        return regroup(fmt::format("node {} is lost: no sign of it for {}", r->name,
                                   format_duration(settings_.patience)),
                       std::nullopt, out);
    }
    if (r->generation != generation.number) return;  // it has not read of it yet
    const Instant leaves = signs_[r->name].leaves.value_or(now);
    switch (r->state) {
        case State::failed:
            return regroup(fmt::format("node {}: {}", r->name, r->cause), std::nullopt, out);
        case State::ready:
            return regroup(fmt::format("node {} ended its command", r->name), std::nullopt, out);
        case State::working:
            if (r->leaves_in) {
                regroup(fmt::format("node {} leaves: {}", r->name, r->cause), leaves, out);
            } else if (r->grows == generation.number) {
                regroup(r->cause, now + settings_.grow_window, out);
            }
            return;
        case State::done:
        case State::left:
            return;
    }
}

/// The log of rank 0 tells the steps, and its node recognises the checkpoints.
void Group::look_at_first(const NodeRecord& first, const NodeRecord& own, std::vector<Event>& out) {
    if (first.prepared == first.generation && told_prepared_ != first.prepared) {
        told_prepared_ = first.prepared;
        out.emplace_back(event::GroupPrepared{first.prepared});
    }
    if (first.step > told_step_ && first.step > own.step) {
        told_step_ = first.step;
        out.emplace_back(event::GroupStep{first.step});
    }
    if (first.saved > told_saved_ && first.saved > own.saved) {
        told_saved_ = first.saved;
        out.emplace_back(event::GroupSaved{first.saved_name, first.saved});
    }
    if (first.committed > told_committed_ && first.committed > own.committed) {
        told_committed_ = first.committed;
        out.emplace_back(event::GroupCommitted{first.committed});
    }
}

/// The first live node ends the generation for those who wait to take part.
void Group::look_for_more(const Generation& generation, const Records& records, NodeRecord& own,
                          Instant now, std::vector<Event>& out) {
    const auto size = static_cast<int>(generation.nodes.size());
    if (size >= settings_.most || now - *began_ < settings_.grow_after) return;
    for (const Generation::Node& node : generation.nodes) {
        const NodeRecord* r = find(records, node.name);
        if (r == &own) break;
        if (r != nullptr && is_live(*r, now)) return;  // it is for that one to say
    }
    std::string names;
    for (const auto& [name, r] : records) {
        const bool waits = r->state == State::ready && !r->leaves_in && is_live(*r, now) &&
                           !generation.rank_of(r->name, r->token);
        if (waits) names += (names.empty() ? "" : ", ") + name;
    }
    if (names.empty()) return;
    own.grows = generation.number;
    own.cause = fmt::format("to go on with {} as well", names);
    regroup(own.cause, now + settings_.grow_window, out);
}

std::vector<const NodeRecord*> Group::candidates(const GroupView& view, const Records& records,
                                                 Instant now) const {
    std::vector<const NodeRecord*> ready;
    for (const auto& [name, r] : records) {
        if (r->state == State::ready && !r->leaves_in && is_live(*r, now)) ready.push_back(r);
    }
    // Who was there keeps its rank: rank 0 has the newest checkpoint on its disk.
    const auto key = [&](const NodeRecord* r) {
        const auto rank = view.newest ? view.newest->rank_of(r->name, r->token) : std::nullopt;
        return rank.value_or(static_cast<int>(ready.size() + records.size()));
    };
    std::stable_sort(ready.begin(), ready.end(),
                     [&](const NodeRecord* a, const NodeRecord* b) { return key(a) < key(b); });
    if (ready.size() > static_cast<std::size_t>(settings_.most)) {
        ready.resize(static_cast<std::size_t>(settings_.most));
    }
    return ready;
}

std::string Group::obstacle(const Records& records, const std::vector<const NodeRecord*>& ready,
                            const NodeRecord& own, Instant now) {
    for (const auto& [name, r] : records) {
        if (!is_live(*r, now)) continue;
        const bool is_busy =
            r->state == State::working || r->state == State::failed || r->state == State::done;
        const bool is_uploading = r->is_uploading && now - *ready_ < settings_.upload_wait;
        if (is_busy || is_uploading) {
            enough_.reset();
            return fmt::format(
                "node {} {}", name,
                is_busy ? "has not ended its command yet" : "is uploading a checkpoint");
        }
    }
    if (static_cast<int>(ready.size()) < settings_.fewest) {
        enough_.reset();
        return fmt::format("waiting for nodes: {} of at least {}", ready.size(), settings_.fewest);
    }
    std::set<std::string> names;
    for (const NodeRecord* r : ready) names.insert(r->name);
    if (!enough_ || names != enough_nodes_) {
        enough_ = now;
        enough_nodes_ = std::move(names);
    }
    const Seconds wait = own.generation > 0 ? settings_.rejoin_wait : settings_.join_wait;
    const bool is_full = static_cast<int>(ready.size()) == settings_.most;
    if (!is_full && now - *enough_ < wait) {
        return fmt::format("waiting for more nodes: {} of {}", ready.size(), settings_.most);
    }
    return {};
}

void Group::look_as_candidate(const GroupView& view, const Records& records, const NodeRecord& own,
                              Instant now, std::vector<Event>& out) {
    if (!ready_) ready_ = now;
    began_.reset();
    if (view.newest && view.newest->number > own.generation) {
        if (const auto rank = view.newest->rank_of(own.name, own.token)) {
            if (told_generation_ == view.newest->number) return;
            told_generation_ = view.newest->number;
            told_step_ = told_saved_ = told_committed_ = -1;
            told_done_ = false;
            said_.clear();
            enough_.reset();
            out.emplace_back(event::Grouped{place_in(*view.newest, *rank)});
            return;
        }
    }
    for (const auto& [name, r] : records) {
        const bool is_ours = own.generation > 0 && r->generation == own.generation && r != &own;
        if (is_ours && look_for_end(*r, out)) return;
    }
    const auto ready = candidates(view, records, now);
    const std::string why_not = obstacle(records, ready, own, now);
    const auto shared = shares_directory(ready);
    if (!why_not.empty()) return say_once(why_not, out);
    if (ready.empty() || ready.front() != &own) return;
    if (!shared) {
        return say_once(
            "some nodes share one checkpoint directory and some do not: give all the "
            "same shared one, or each its own",
            out);
    }
    Generation g;
    g.number = (view.newest ? view.newest->number : 0) + 1;
    g.is_shared = *shared;
    g.proposed_by = own.name;
    for (const NodeRecord* r : ready) g.nodes.push_back({r->name, r->token, r->address, r->port});
    const auto count = g.nodes.size();
    const std::size_t before = view.newest ? view.newest->nodes.size() : 0;
    if (before == 0) {
        g.reason = "the first one";
    } else if (count < before) {
        g.reason = fmt::format("{} of {} nodes are left", count, before);
    } else if (count > before) {
        g.reason =
            fmt::format("{} joined",
                        count - before == 1 ? "one node" : fmt::format("{} nodes", count - before));
    } else {
        g.reason = "the same number of nodes again";
    }
    proposal_ = std::move(g);
}

}  // namespace trainyard::agent
