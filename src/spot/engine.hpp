#pragma once
// Plays runs of one RunSpec, event by event; between events everything is closed form. One engine
// per thread: it keeps its memory from run to run. docs/model/spot-engine.md has states and rules.
// Plain doubles inside: seconds since the job was submitted; work in seconds at full size.

#include <array>
#include <cstdint>
#include <vector>

#include "fleet.hpp"
#include "market.hpp"
#include "stretch.hpp"
#include "trainyard/base/random.hpp"
#include "trainyard/spot/policy.hpp"
#include "trainyard/spot/run.hpp"
#include "trainyard/spot/simulate.hpp"
#include "world.hpp"

namespace trainyard::spot {

class Engine {
  public:
    explicit Engine(const RunSpec& spec);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    RunResult play(Policy& policy, std::uint64_t seed, std::uint64_t run,
                   std::vector<TimelineEvent>* timeline);

  private:
    enum class Phase { idle, restoring, stepping, saving };
    /// What a save stands for that is not one of the periodic ones.
    enum class Purpose { notice, reconfigure, finish, stop };

    // engine.cpp: the loop and the fleet.
    void begin(Policy& policy, std::uint64_t seed, std::uint64_t run);
    double next_time() const;
    void handle_events();
    void handle_market(std::size_t pool);
    void handle_failure();
    void lost(Lost lost, bool failure);
    void ask();
    void start_view();
    void fill_view();
    void apply();
    void launch(std::size_t pool, int nodes);
    void holdings_changed();
    void watch_budget();
    void end(Ending ending);
    RunResult result() const;
    void note(const char* what);

    // engine_job.cpp: what the job does.
    void account();
    void settle();
    bool better_to_start(int ready) const;
    int usable_ready() const;
    bool has_excess() const;
    bool move_checkpoint();
    void start_restore();
    void start_stretch();
    void close_stretch();
    void start_save(Purpose purpose, double length);
    void phase_ended();
    void save_ended();
    void interrupted();
    void roll_back(double kept);
    void check_peers();
    void begin_stop();
    double durable_now() const;
    double restart_time() const;
    double final_save() const;
    double speed(int nodes) const { return speed_[static_cast<std::size_t>(nodes)]; }

    // engine_cadence.cpp.
    double choose_interval();
    double interval_for(double rate);

    const RunSpec& spec_;
    World world_;
    std::vector<Market>& markets_;
    Fleet fleet_;
    std::vector<double> speed_;  ///< by number of nodes
    std::vector<PoolView> pool_views_;
    View view_;
    Decision decision_;
    std::vector<int> want_;
    std::vector<double> refused_until_;
    // The spec as plain numbers.
    double work_ = 0, blocking_ = 0, persist_ = 0, boot_ = 0, framework_ = 0;
    double failure_rate_ = 0;  ///< per node and second
    double give_up_at_ = 0;
    double budget_ = 0;
    double prepaid_ = 0;
    struct KnownInterval {
        double rate = -1, interval = 0;
    };
    std::array<KnownInterval, 8> known_intervals_{};
    std::size_t next_known_ = 0;

    // The run.
    Policy* policy_ = nullptr;
    std::vector<TimelineEvent>* timeline_ = nullptr;
    Random random_{0, 0};
    double now_ = 0;
    Phase phase_ = Phase::idle;
    Purpose purpose_ = Purpose::finish;
    double phase_start_ = 0;  ///< accounted up to here
    double phase_end_ = 0;
    double restore_end_ = 0;  ///< of a restart: where the reshard begins
    Stretch stretch_;
    double done_ = 0;                           ///< work done at the start of the phase
    double durable_ = 0;                        ///< of it, safe if everything is lost
    double peers_have_ = 0;                     ///< safe while one member lives
    double pending_at_ = 0, pending_work_ = 0;  ///< an upload that outlives its stretch
    int last_size_ = 0;
    int last_region_ = -1;
    double exposure_left_ = 0, exposure_rate_ = 0, exposure_from_ = 0, next_failure_ = 0;
    double next_ask_ = 0, stop_at_ = 0, next_retry_ = 0;
    bool ask_wanted_ = false;
    bool stopping_ = false;
    bool over_ = false;
    int replacing_ = 0;  ///< launches to come that replace failed nodes
    double first_interval_ = 0;
    RunResult result_;
    // The parts of TimeSplit.
    double useful_ = 0, slower_ = 0, lost_ = 0, checkpoint_ = 0, restart_ = 0, reshard_ = 0,
           waiting_ = 0;
};

}  // namespace trainyard::spot
