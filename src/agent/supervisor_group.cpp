// The supervisor as one of several: what it tells the other nodes, and what it hears of them.

#include <fmt/format.h>

#include <algorithm>

#include "supervision.hpp"
#include "trainyard/sys/machine.hpp"

namespace trainyard::agent {

namespace {

constexpr Seconds kNeighbours = 2 * kSecond;  ///< between looks for the marks of other nodes

/// The endings that hold for every node; a node that is taken away, or whose own disk or network
/// fails, leaves alone.
bool ends_all(Ending ending) {
    return ending != Ending::done && ending != Ending::preempted && ending != Ending::world;
}

NodeRecord::State state_of(const Machine& machine) {
    using Phase = Machine::Phase;
    using State = NodeRecord::State;
    switch (machine.phase()) {
        case Phase::idle:
        case Phase::joining:
            return State::ready;
        case Phase::preparing:
        case Phase::running:
        case Phase::saving:
        case Phase::ending:
            return State::working;
        case Phase::waiting:
            return machine.failure().empty() ? State::working : State::failed;
        case Phase::awaiting:
            return State::done;
        case Phase::flushing:
            return machine.ending() == Ending::done ? State::done : State::left;
        case Phase::finished:
            return State::left;
    }
    return State::left;
}

}  // namespace

void Supervisor::meet_group() {
    auto newest = [this](bool is_shared) { return newest_step(env_, settings_.place, is_shared); };
    group_.emplace(env_, *settings_.group, std::move(newest),
                   [this](Event e) { mail_.post(std::move(e)); });
    tell_group();
}

void Supervisor::recall_place() {
    const auto place = read_place(journal_.get("place").value_or(""), settings_.state);
    if (!place) return;  // of no generation yet
    place_ = *place;
    prepared_ = place_->generation;
    machine_->adopt_generation(*place_);
}

void Supervisor::take_place(const GroupPlace& place) {
    place_ = place;
    port_ = 0;  // the next rendezvous gets a new one
    note(journal_.set("place", write_place(place)));
}

void Supervisor::hear(const Event& event) {
    if (const auto* grouped = std::get_if<event::Grouped>(&event)) {
        if (machine_->phase() != Machine::Phase::joining) return;
        take_place(grouped->place);
    } else if (const auto* told = std::get_if<event::GroupStep>(&event)) {
        LogProgress progress;
        progress.step = told->step;
        std::vector<Event> events;
        observer_.line(progress, now(), events);
        observer_.lines_end(now());
        for (const Event& follows : events) feed(follows);
        return;
    } else if (const auto* saved = std::get_if<event::GroupSaved>(&event)) {
        return feed(event::Saved{settings_.place.directory + "/" + saved->name, saved->step, 0});
    } else if (const auto* first = std::get_if<event::GroupPrepared>(&event)) {
        first_prepared_ = first->generation;
        if (must_prepare_) prepare_now();
        return;
    } else if (const auto* here = std::get_if<event::Prepared>(&event)) {
        prepared_ = here->generation;
    }
    feed(event);
}

NodeRecord Supervisor::own_record() {
    const GroupWatchSettings& g = *settings_.group;
    const Machine& m = *machine_;
    NodeRecord r;
    r.name = g.group.self;
    r.token = run_id_;
    r.address = g.address;
    if (port_ == 0) port_ = g.port != 0 ? g.port : sys::free_port();
    r.port = port_;
    r.state = state_of(m);
    r.generation = m.generation();
    r.prepared = prepared_;
    r.step = m.memory().step;
    r.saved = m.memory().saved;
    r.saved_name = saved_name_;
    r.committed = m.memory().committed;
    r.is_uploading = m.has_upload_left();
    r.cause = m.failure();
    const auto drain = m.drain();
    if (drain == Drain::notice || drain == Drain::terminate) {
        r.leaves_in = std::max(*m.drain_deadline() - now(), 0 * kSecond);
    }
    if (drain && drain != Drain::regroup) r.cause = m.drain_words();
    if (const auto ending = m.comes_to()) {
        r.ending = name(*ending);
        r.ends_all = ends_all(*ending);
        if (r.cause.empty()) r.cause = r.ending;
    }
    if (const auto cost = observer_.own_cost()) r.cost_usd = *cost / kUsd;
    r.neighbours = neighbours_;
    return r;
}

void Supervisor::tell_group() {
    if (now() >= next_neighbours_) {
        next_neighbours_ = now() + kNeighbours;
        if (state_of(*machine_) == NodeRecord::State::ready) {
            neighbours_ =
                neighbours(env_, settings_.place.directory, settings_.group->group.self, run_id_);
        }
    }
    group_->tell(own_record());
    observer_.others_cost(group_->others_usd() * kUsd, place_ ? place_->nodes : 1);
}

std::vector<std::string> Supervisor::group_environment() const {
    const GroupPlace& p = *place_;
    const std::string port = std::to_string(p.first_port);
    std::vector<std::string> all;
    const auto set = [&](std::initializer_list<const char*> names, const std::string& value) {
        for (const char* name : names) all.push_back(fmt::format("{}={}", name, value));
    };
    // PET_* are the defaults of torchrun's options (--nnodes and so on), the bare names those of
    // PyTorch's env:// and of Lightning.
    set({"TRAINYARD_NODES", "PET_NNODES"}, std::to_string(p.nodes));
    set({"TRAINYARD_NODE_RANK", "PET_NODE_RANK", "NODE_RANK"}, std::to_string(p.rank));
    set({"TRAINYARD_MASTER_ADDR", "PET_MASTER_ADDR", "MASTER_ADDR"}, p.first_address);
    set({"TRAINYARD_MASTER_PORT", "PET_MASTER_PORT", "MASTER_PORT"}, port);
    set({"TRAINYARD_GENERATION"}, std::to_string(p.generation));
    set({"PET_RDZV_ENDPOINT"}, p.first_address + ":" + port);
    set({"PET_RDZV_ID"}, fmt::format("trainyard-{}-{}", p.generation, port));
    set({"TRAINYARD_FULL_NODES"}, std::to_string(settings_.group->group.most));
    const GroupWatchSettings& g = *settings_.group;
    const double scale = g.scales_rate ? static_cast<double>(p.nodes) / g.group.most : 1.0;
    set({"TRAINYARD_LEARNING_RATE_SCALE"}, fmt::format("{}", scale));
    set({"TRAINYARD_BATCH_POLICY"}, g.scales_rate ? "scale-learning-rate" : "keep-global-batch");
    return all;
}

}  // namespace trainyard::agent
