#pragma once
// The nodes held during one run: launch groups per pool, what EC2 charges for them, who is lost.
// Plain doubles inside the engine: seconds since the start of the run, US dollars.

#include <cstddef>
#include <span>
#include <vector>

#include "market.hpp"
#include "trainyard/base/random.hpp"
#include "trainyard/spot/run.hpp"
#include "trainyard/spot/simulate.hpp"

namespace trainyard::spot {

/// Nodes of one pool that were launched together and are in the same state.
struct Group {
    std::size_t pool = 0;
    int nodes = 0;
    double launched = 0;  ///< billing starts
    double ready = 0;     ///< booted, image there
    double mark = 0;      ///< Market::paid() at `launched`
    double dies = 0;      ///< a single interruption has been announced for then; infinite: no
    bool member = false;  ///< takes part in the job
    bool keeper = false;  ///< has made steps since it was launched: its memory holds a copy
};

/// Why nodes go. EC2 forgives a first hour only where EC2 itself interrupts.
enum class Leaving { released, interrupted, failed, window_end };

struct Lost {
    int nodes = 0;
    int members = 0;
};

class Fleet {
  public:
    Fleet(const RunSpec& spec, std::vector<Market>& markets);
    void begin();

    void launch(std::size_t pool, int nodes, double now, double delay, double boot);
    /// Youngest first, nodes outside the job before members; returns members released.
    int release(std::size_t pool, int nodes, double now);
    int release_outsiders(std::size_t pool, int nodes, double now);
    /// `count` nodes of the pool, each equally likely.
    Lost lose(std::size_t pool, int count, double now, Leaving why, Random& random);
    Lost lose_doomed(double now);
    /// Announces the loss of one node for `dies`.
    bool doom(std::size_t pool, double dies, Random& random);

    std::span<const Group> groups() const { return groups_; }
    int held(std::size_t pool) const { return held_[pool]; }
    int total() const { return total_; }
    int members() const { return members_; }
    int members_of(std::size_t pool) const;
    /// Takes ready nodes into the job, up to `most`; none that EC2 has announced to take.
    void enlist(double now, int most);
    void dismiss();
    void mark_keepers();
    /// Whether a node is held whose memory has the last save.
    bool keeps_state() const;
    bool usable(const Group& group, double now) const;
    /// Members that EC2 has announced to take.
    int doomed_members() const;
    /// When the first of them goes; infinite if there is none.
    double first_doom() const;

    double next_ready() const { return next_ready_; }
    double next_death() const { return next_death_; }
    /// Recomputes both, after `now`.
    void look_ahead(double now);

    const MoneySplit& money() const { return money_; }
    MoneySplit& money() { return money_; }
    /// Dollars that would be owed if everything were released now, plus the smallest charge of a
    /// launch for each node held: never less than the bill.
    double owed_at_most(double now) const;
    /// Of the nodes held, at the present and at the highest price of their pools; per second.
    double rate() const;
    double most_rate() const;
    /// The seconds that a started node may be charged beyond its life: 60, or a whole hour.
    double quantum() const { return quantum_; }
    double node_hours(Purchase purchase) const {
        return node_hours_[static_cast<std::size_t>(purchase)];
    }
    void close_all(double now);

  private:
    void close(const Group& group, int nodes, double now, Leaving why);
    Lost take(std::size_t index, int nodes, double now, Leaving why);
    std::size_t node_at(std::size_t pool, int which) const;

    const RunSpec& spec_;
    std::vector<Market>& markets_;
    std::vector<Group> groups_;
    std::vector<int> held_;
    int total_ = 0;
    int members_ = 0;
    double next_ready_ = 0;
    double next_death_ = 0;
    double quantum_ = 60;
    MoneySplit money_;
    double node_hours_[4] = {};
};

/// Seconds charged for a node that lived `age`: per second with one minute at least
/// (https://aws.amazon.com/ec2/pricing/on-demand), or whole hours.
double charged_seconds(double age, bool per_second);

}  // namespace trainyard::spot
