// Degrees and sizes that torchtitan refuses at start.

#include <fmt/format.h>

#include "found.hpp"
#include "titan.hpp"

namespace trainyard::lint::tt_parallel {

namespace {

constexpr std::int64_t kMost = 1'000'000;

class Judge {
  public:
    Judge(const Case& c, const Document& d, Found& found)
        : d_(d),
          found_(found),
          replicate_(titan::degree(d, "data_parallel_replicate_degree")),
          shard_(titan::degree(d, "data_parallel_shard_degree", -1)),
          tp_(titan::degree(d, "tensor_parallel_degree")),
          pp_(titan::degree(d, "pipeline_parallel_degree")),
          cp_(titan::degree(d, "context_parallel_degree")),
          world_(titan::world_of(c, d)) {}

    void all() {
        if (!degrees()) return;
        world();
        sequence();
        batch();
        async();
        experts();
    }

  private:
    bool degrees() {
        for (const std::string_view name :
             {"data_parallel_replicate_degree", "tensor_parallel_degree",
              "pipeline_parallel_degree", "context_parallel_degree"}) {
            const std::int64_t n = titan::degree(d_, name);
            if (n >= 1) continue;
            found_.at(titan::place(d_, name), fmt::format("{} = {}: it must be 1 or more", name, n))
                .fix = "1, or the number of devices to split over";
            return false;
        }
        if (shard_ >= 1 || shard_ == -1) return true;
        found_
            .at(titan::place(d_, "data_parallel_shard_degree"),
                fmt::format("data_parallel_shard_degree = {}: it must be -1 or 1 or more", shard_))
            .fix = "-1: all devices that are left";
        return false;
    }

    void world() {
        if (world_ == 0) return;
        const std::int64_t ranks = replicate_ * tp_ * pp_ % kMost * cp_;
        if (ranks < 1) return;
        const bool is_rest = shard_ == -1;
        const std::int64_t all = is_rest ? ranks : ranks * shard_;
        if (is_rest ? world_ % ranks == 0 : world_ == all) return;
        const std::string_view name =
            tp_ > 1 ? "tensor_parallel_degree" : "data_parallel_shard_degree";
        found_.at(titan::place(d_, name),
                  fmt::format("DP {}{} x CP {} x TP {} x PP {} = {} ranks {} {} processes",
                              replicate_, is_rest ? "" : fmt::format(" x {}", shard_), cp_, tp_,
                              pp_, all, is_rest ? "do not divide" : "are not the", world_));
    }

    void sequence() {
        const auto length = count(&d_.root, {"training", "seq_len"});
        const std::int64_t part = tp_ * (cp_ > 1 ? 2 * cp_ : 1);
        if (!length || length->value <= 0 || length->value % part == 0) return;
        found_
            .at(Said{std::to_string(length->value), length->where},
                fmt::format("seq_len {} is no multiple of {} (TP {}{})", length->value, part, tp_,
                            cp_ > 1 ? fmt::format(" x 2 x CP {}", cp_) : ""))
            .fix = fmt::format("a multiple of {}", part);
    }

    void batch() {
        const doc::Node* training = get(&d_.root, "training");
        auto local = count(training, {"local_batch_size"});
        if (!local) local = count(training, {"batch_size"});
        if (!local || local->value < 1 || local->value > kMost) return;
        const auto micro = count(&d_.root, {"parallelism", "pipeline_parallel_microbatch_size"});
        if (pp_ > 1 && micro && micro->value > 0 && local->value % micro->value != 0) {
            found_
                .at(Said{std::to_string(micro->value), micro->where},
                    fmt::format("a local batch of {} is no multiple of the micro-batch {}",
                                local->value, micro->value))
                .fix = "a micro-batch that divides the local batch";
        }
        const auto global = count(training, {"global_batch_size"});
        const std::int64_t inner = tp_ * pp_ % kMost * cp_;
        if (!global || global->value <= 0 || world_ == 0 || inner < 1 || world_ % inner != 0)
            return;
        const std::int64_t pass = local->value * (world_ / inner);
        if (global->value % pass == 0) return;
        found_
            .at(Said{std::to_string(global->value), global->where},
                fmt::format("global_batch_size {} is no multiple of local batch {} x DP {}",
                            global->value, local->value, world_ / inner))
            .fix = fmt::format("a multiple of {}", pass);
    }

    void async() {
        const doc::Node* flag = get(&d_.root, {"parallelism", "enable_async_tensor_parallel"});
        const auto compiles = titan::compiles(d_);
        if (!is_true(flag) || compiles.value_or(false)) return;
        found_
            .at(key_said(*flag, "enable_async_tensor_parallel"),
                "asynchronous tensor parallelism without torch.compile")
            .fix = "[compile] enable = true";
    }

    void experts() {
        const std::int64_t etp = titan::degree(d_, "expert_tensor_parallel_degree");
        if (etp == 1 || etp == tp_) return;
        found_
            .at(titan::place(d_, "expert_tensor_parallel_degree"),
                fmt::format("expert_tensor_parallel_degree {} is neither 1 nor TP {}", etp, tp_))
            .fix = "1, or the tensor degree";
    }

    const Document& d_;
    Found& found_;
    std::int64_t replicate_, shard_, tp_, pp_, cp_, world_;
};

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::torchtitan)) Judge(c, *d, found).all();
}

}  // namespace

Rule rule() {
    return {.id = "TT-PARALLEL",
            .severity = Severity::error,
            .title = "Degrees or sizes that torchtitan refuses",
            .applies = "torchtitan configurations; with a launch line that names them, its devices",
            .why = "the job ends at start, after all nodes came up",
            .fix = "degrees whose product is the number of processes",
            .source = "pytorch/torchtitan: distributed/parallel_dims.py, train.py, models/*/infra",
            .find = find};
}

}  // namespace trainyard::lint::tt_parallel
