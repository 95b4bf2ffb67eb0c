#pragma once
// The default policy with a prior of one's own; docs/model/spot-policy.md. Private to the module
// and its tests. US dollars and hours where a number has no type.

#include <memory>
#include <vector>

#include "policy_default_table.hpp"
#include "trainyard/spot/policy.hpp"

namespace trainyard::spot {

class DefaultPolicy final : public Policy {
  public:
    /// `most_over`: share of the on-demand cost by which a job may exceed it. The prior must
    /// outlive the policy.
    DefaultPolicy(const SpotPrior& prior, double most_over);
    void begin(const View& first) override;
    void decide(const View& view, Decision& decision) override;

  private:
    static constexpr int kNothing = -1;
    static constexpr int kOnDemand = -2;

    /// Where the job stands.
    struct Standing {
        int spot = -1;              ///< pool held
        bool is_on_demand = false;  ///< held
        double price = 0;           ///< of on-demand, per node and hour; 0: there is none
        Seconds left;               ///< until the deadline, in whole ticks
        Seconds slack;              ///< left less work left
        Seconds pause;              ///< until the next decision
    };

    static double on_demand_price(const View& view);
    static int cheapest_there(const View& view);
    static bool is_up(const View& view, std::size_t pool);
    static Seconds fallback(const View& view, bool is_on_demand);
    void keep_books(const View& view);
    Standing stand(const View& view) const;
    bool may_launch(const View& view, const Standing& s, std::size_t pool) const;
    bool can_pay(const View& view, const Standing& s, std::size_t pool) const;
    bool may_idle(const View& view, const Standing& s) const;
    bool must_leave(const View& view, const Standing& s) const;
    Gain gain(const View& view, const Standing& s, std::size_t pool);
    int choose(const View& view, const Standing& s);

    const SpotPrior* prior_;
    double most_over_;
    double spent_ = 0;    ///< US dollars, an upper bound
    double limit_ = 0;    ///< US dollars that the job may cost
    Seconds patience_;    ///< the deadline if there is none
    Seconds first_work_;  ///< size of the tables: the same for all runs of a job
    Seconds first_slack_;
    Seconds first_restart_;
    Seconds last_;  ///< time of the last decision
    std::vector<int> wanted_;
    std::vector<PoolBelief> beliefs_;
    std::vector<std::shared_ptr<const ValueTable>> tables_;
};

}  // namespace trainyard::spot
