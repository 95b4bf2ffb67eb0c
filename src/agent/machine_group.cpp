// The machine as one of several nodes: group.hpp tells it what the others do.

#include <fmt/format.h>

#include <algorithm>

#include "trainyard/agent/machine.hpp"

namespace trainyard::agent {

using action::Say;
using Level = Say::Level;

std::optional<Ending> Machine::ending() const {
    if (phase_ != Phase::flushing && phase_ != Phase::finished) return std::nullopt;
    return ending_;
}

void Machine::adopt_generation(const GroupPlace& place) {
    generation_ = place.generation;
    is_uploader_ = place.rank == 0;
}

void Machine::join(Actions& out) {
    drain_.reset();
    phase_ = Phase::joining;
    out.emplace_back(action::Join{});
}

void Machine::on(const event::Grouped& e, Instant /*now*/, Actions& out) {
    if (phase_ != Phase::joining || e.place.generation <= generation_) return;
    adopt_generation(e.place);
    prepare_failures_ = 0;
    failure_.clear();
    waiting_put_.reset();  // of another generation; what is under way may still arrive
    out.emplace_back(Say{Level::info, "grouped",
                         fmt::format("generation {}: node {} of {}, {} ({})", generation_,
                                     e.place.rank, e.place.nodes,
                                     e.place.from < 0 ? std::string("from the start")
                                                      : fmt::format("from step {}", e.place.from),
                                     e.place.reason),
                         e.place.from});
    go(out);
}

void Machine::on(const event::Regroup& e, Instant now, Actions& out) {
    switch (phase_) {
        case Phase::running:
            if (e.deadline) return begin_drain(Drain::regroup, e.why, *e.deadline, now, out);
            drain_ = Draining{Drain::regroup, e.why, now, now, memory_.saved, false};
            break;
        case Phase::saving:
            if (e.deadline) return;
            break;
        case Phase::preparing:
        case Phase::awaiting:
            out.emplace_back(Say{Level::warning, "regroup", e.why, memory_.step});
            if (drain_) return;
            return join(out);
        case Phase::waiting:
            if (!failure_.empty()) return;  // after the pause
            start_at_.reset();
            return join(out);
        case Phase::idle:
        case Phase::ending:
        case Phase::joining:
        case Phase::flushing:
        case Phase::finished:
            return;
    }
    // Nothing can be saved without the others.
    out.emplace_back(Say{Level::warning, "regroup", e.why, memory_.step});
    end_command(now, out);
}

// These are for the supervisor, which makes Progress and Saved of them.
void Machine::on(const event::GroupStep& /*e*/, Instant /*now*/, Actions& /*out*/) {}
void Machine::on(const event::GroupSaved& /*e*/, Instant /*now*/, Actions& /*out*/) {}
void Machine::on(const event::GroupPrepared& /*e*/, Instant /*now*/, Actions& /*out*/) {}

void Machine::on(const event::GroupCommitted& e, Instant now, Actions& out) {
    if (e.step <= memory_.committed) return;
    memory_.committed = e.step;
    if (phase_ == Phase::saving && is_safe()) end_command(now, out);
}

void Machine::on(const event::GroupDone& /*e*/, Instant now, Actions& out) {
    if (phase_ == Phase::awaiting) flush(Ending::done, policy_.flush_window, now, out);
}

void Machine::on(const event::GroupEnds& e, Instant now, Actions& out) {
    Drain why = Drain::stop;
    switch (e.ending) {
        case Ending::out_of_budget:
            why = Drain::budget;
            break;
        case Ending::idle:
            why = Drain::idle;
            break;
        case Ending::bad_loss:
            why = Drain::bad_loss;
            break;
        case Ending::interrupted:
            why = Drain::interrupt;
            break;
        case Ending::poison_step:
        case Ending::out_of_restarts:
        case Ending::world: {
            // It was given up: there is nothing to save, and the exit code is that node's.
            out.emplace_back(Say{Level::alarm, "given-up", e.why, memory_.step});
            given_up_ = e.ending;
            memory_.failures.push_back({memory_.attempts, memory_.step, e.why});
            const bool has_command = phase_ == Phase::running || phase_ == Phase::saving;
            drain_ = Draining{Drain::stop, e.why, now, now + policy_.grace, memory_.saved, false};
            if (has_command) return end_command(now, out);
            if (phase_ != Phase::ending) flush(e.ending, 0 * kSecond, now, out);
            return;
        }
        case Ending::done:
        case Ending::preempted:
        case Ending::stopped:
            break;
    }
    begin_drain(why, e.why, now + policy_.stop_window, now, out);
}

}  // namespace trainyard::agent
