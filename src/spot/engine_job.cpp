// What the job does with its nodes: wait, restart, step, save.

#include <algorithm>
#include <limits>

#include "engine.hpp"

namespace trainyard::spot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Work below this is rounding.
constexpr double kNothing = 1e-6;

}  // namespace

double Engine::final_save() const { return persist_; }

double Engine::restart_time() const {
    const Checkpoints& c = spec_.checkpoints;
    if (durable_ <= 0 && peers_have_ <= 0) return framework_;
    const bool peers = c.restore_from == RestoreFrom::peer_memory && fleet_.keeps_state();
    return framework_ + (peers ? c.restore_peer : c.restore_s3).base();
}

double Engine::durable_now() const {
    double durable = durable_;
    if (now_ >= pending_at_) durable = std::max(durable, pending_work_);
    if (phase_ == Phase::stepping) {
        const auto at = stretch_.at(now_);
        if (at.persisted > 0) durable = std::max(durable, stretch_.work_after(at.persisted));
    }
    return durable;
}

/// Time since phase_start_ goes where the phase says; a stretch is closed on its own.
void Engine::account() {
    const double passed = now_ - phase_start_;
    if (phase_ == Phase::stepping) return;
    if (phase_ == Phase::idle) {
        (fleet_.total() >= spec_.min_nodes ? restart_ : waiting_) += passed;
    } else if (phase_ == Phase::restoring) {
        const double before = std::clamp(restore_end_ - phase_start_, 0.0, passed);
        restart_ += before;
        reshard_ += passed - before;
    } else {
        checkpoint_ += passed;
    }
    phase_start_ = now_;
}

/// Ends the present stretch as it stands; nothing is rolled back yet.
void Engine::close_stretch() {
    const auto at = stretch_.at(now_);
    const double work = at.compute * stretch_.speed;
    useful_ += work;
    slower_ += at.compute - work;
    checkpoint_ += at.blocked;
    if (at.persisted > 0) durable_ = std::max(durable_, stretch_.work_after(at.persisted));
    if (now_ >= pending_at_) durable_ = std::max(durable_, pending_work_);
    if (at.saved > 0) {
        peers_have_ = stretch_.work_after(at.saved);
        if (at.saved > at.persisted) {
            pending_work_ = peers_have_;
            pending_at_ = stretch_.start + at.saved * (stretch_.interval + stretch_.blocking) -
                          stretch_.blocking + stretch_.persist;
        }
    }
    done_ = std::min(work_, stretch_.from + work);
    if (work_ - done_ < kNothing) done_ = work_;
    phase_start_ = now_;
}

int Engine::usable_ready() const {
    int ready = 0;
    for (const Group& g : fleet_.groups())
        if (fleet_.usable(g, now_)) ready += g.nodes;
    return std::min(ready, spec_.nodes);
}

/// Nodes are held that nobody wants, and all that are wanted are there to take over.
bool Engine::has_excess() const {
    bool excess = false;
    for (std::size_t i = 0; i < want_.size(); ++i) {
        if (fleet_.held(i) < want_[i]) return false;
        excess = excess || (fleet_.held(i) > want_[i] && !markets_[i].noticed());
    }
    return excess;
}

/// Start now with `ready` nodes, or wait for those that boot? What the wait could have been used
/// for must be worth a second restart.
bool Engine::better_to_start(int ready) const {
    double last = now_;
    for (const Group& g : fleet_.groups())
        if (g.ready > last && g.dies == kInfinity) last = g.ready;
    if (last <= now_) return true;
    const double restart = restart_time();
    const double again =
        framework_ + spec_.checkpoints.restore_s3.base() + spec_.reshard.base() + final_save();
    return (last - now_ - restart) * speed(ready) > again;
}

/// After anything changed: does the job start, or take in new nodes?
void Engine::settle() {
    if (over_ || stopping_) return;
    if (phase_ == Phase::idle) {
        const int ready = usable_ready();
        if (ready >= spec_.min_nodes && better_to_start(ready)) start_restore();
        return;
    }
    if (phase_ != Phase::stepping || fleet_.next_ready() < kInfinity) return;
    const bool excess = has_excess();
    if (!excess && fleet_.total() == fleet_.members()) return;
    const int ready = usable_ready();
    // Nodes that will be taken are left before that where others are ready.
    const int doomed = fleet_.doomed_members();
    const bool flee = doomed > 0 && ready >= std::max(spec_.min_nodes, doomed) &&
                      now_ + final_save() <= fleet_.first_doom();
    if (!excess && !flee && ready <= fleet_.members()) return;
    if (!excess && !flee) {
        const double left = work_ - done_ - stretch_.at(now_).compute * stretch_.speed;
        const double gain = left / speed(fleet_.members()) - left / speed(ready);
        if (gain < restart_time() + spec_.reshard.base() + final_save()) return;
    }
    start_save(Purpose::reconfigure, final_save());
}

void Engine::start_save(Purpose purpose, double length) {
    if (phase_ == Phase::stepping) close_stretch();
    phase_ = Phase::saving;
    purpose_ = purpose;
    phase_end_ = now_ + (done_ > durable_ ? length : 0);
    if (phase_end_ <= now_) save_ended();
}

/// The checkpoint follows the job to another region, for money.
bool Engine::move_checkpoint() {
    for (const Group& g : fleet_.groups()) {
        if (!g.member) continue;
        const Pool& pool = spec_.pools[g.pool];
        if (last_region_ >= 0 && pool.region != last_region_ && durable_ > 0) {
            if (fleet_.owed_at_most(now_) + pool.move_cost / kUsd > budget_) return false;
            fleet_.money().transfer += pool.move_cost;
        }
        last_region_ = pool.region;
        return true;
    }
    return true;
}

void Engine::start_restore() {
    account();
    fleet_.enlist(now_, spec_.nodes);
    if (!move_checkpoint()) return begin_stop();
    const int size = fleet_.members();
    const bool resized = last_size_ != 0 && last_size_ != size && done_ > 0;
    phase_ = Phase::restoring;
    restore_end_ = now_ + restart_time();
    phase_end_ = restore_end_ + (resized ? spec_.reshard.base() : 0);
    last_size_ = size;
    watch_budget();
    if (timeline_ != nullptr) note("restart");
}

void Engine::start_stretch() {
    phase_ = Phase::stepping;
    phase_start_ = now_;
    fleet_.mark_keepers();
    stretch_.start = now_;
    stretch_.speed = speed(fleet_.members());
    stretch_.blocking = blocking_;
    stretch_.persist = persist_;
    stretch_.from = done_;
    stretch_.interval = choose_interval();
    if (first_interval_ == 0) first_interval_ = stretch_.interval;
    double most = kNever;
    if (spec_.checkpoints.cadence == Cadence::age_aware) {
        // Hazards fall with age, so the interval is chosen again when the stretch has lasted for
        // half of the age at its start.
        double age = kInfinity;
        for (const Group& g : fleet_.groups())
            if (g.member) age = std::min(age, now_ - g.launched);
        most = std::max(1.0, std::floor(0.5 * age / (stretch_.interval + blocking_)));
    }
    stretch_.plan(work_ - done_, most);
    phase_end_ = stretch_.end;
}

void Engine::phase_ended() {
    if (phase_ == Phase::restoring) {
        account();
        start_stretch();
        if (timeline_ != nullptr) note("running");
        settle();
    } else if (phase_ == Phase::stepping) {
        close_stretch();
        if (done_ < work_) {
            start_stretch();
        } else {
            phase_ = Phase::saving;
            start_save(Purpose::finish, final_save());
        }
    } else if (phase_ == Phase::saving) {
        save_ended();
    }
}

void Engine::save_ended() {
    account();
    durable_ = std::max(durable_, done_);
    peers_have_ = done_;
    pending_at_ = kInfinity;
    if (timeline_ != nullptr) note("saved");
    if (purpose_ == Purpose::finish) return end(Ending::finished);
    if (purpose_ == Purpose::stop || stopping_) return end(Ending::out_of_budget);
    if (purpose_ == Purpose::notice) {
        ++result_.saves_on_notice;
        if (done_ >= work_) return end(Ending::finished);
        start_stretch();
        return;
    }
    // Reconfigure: let go of what is not wanted, then start again with what is ready.
    phase_ = Phase::idle;
    phase_start_ = now_;
    phase_end_ = kInfinity;
    for (std::size_t i = 0; i < want_.size(); ++i) {
        const int excess = fleet_.held(i) - want_[i];
        if (excess > 0 && !markets_[i].noticed()) fleet_.release(i, excess, now_);
    }
    fleet_.dismiss();
    holdings_changed();
    settle();
}

/// A member is gone: back to the last save that survives.
void Engine::interrupted() {
    if (phase_ == Phase::stepping) {
        close_stretch();
    } else {
        account();
        if (now_ >= pending_at_) durable_ = std::max(durable_, pending_work_);
    }
    ++result_.interruptions;
    const bool peers =
        spec_.checkpoints.restore_from == RestoreFrom::peer_memory && fleet_.keeps_state();
    roll_back(peers ? std::max(durable_, peers_have_) : durable_);
    if (!peers) peers_have_ = 0;
    pending_at_ = kInfinity;
    phase_ = Phase::idle;
    phase_end_ = kInfinity;
    fleet_.dismiss();
}

void Engine::roll_back(double kept) {
    useful_ -= done_ - kept;
    lost_ += done_ - kept;
    done_ = kept;
}

/// The last node that had the state in its memory was let go: only what is stored is left.
void Engine::check_peers() {
    if (done_ <= durable_ || fleet_.keeps_state()) return;
    if (phase_ != Phase::idle && phase_ != Phase::restoring) return;
    roll_back(durable_);
    peers_have_ = 0;
}

/// The budget is near: save, then stop. Money for the save has been kept back.
void Engine::begin_stop() {
    stop_at_ = kInfinity;
    if (stopping_ || over_) return;
    stopping_ = true;
    if (phase_ == Phase::stepping) {
        start_save(Purpose::stop, final_save());
    } else if (phase_ != Phase::saving) {
        account();
        end(Ending::out_of_budget);
    }
}

}  // namespace trainyard::spot
