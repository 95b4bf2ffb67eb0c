#pragma once
// What one training keeps and moves: weights, gradients and optimizer states of the parameters that
// are trained, and the gradients that data-parallel ranks exchange.

#include <string>

#include "context.hpp"

namespace trainyard::plan {

/// Before sharding and before activations.
struct TrainingState {
    Bytes frozen;   ///< weights that only run forward: 2 B/parameter, about 0.55 B with QLoRA
    Bytes trained;  ///< weights, gradients, optimizer states and master copy of what is trained
    Bytes total() const { return frozen + trained; }
    double bytes_per_trained = 18;  ///< AdamW with an fp32 master copy and fp32 gradients
    Bytes wide_gradients;           ///< of it: what gradients take beyond two bytes each
};
TrainingState training_state(const Context& x, const Option& o);
/// "145 GB (128 GB at the usual 16 B/parameter and 16 GB for gradients in fp32)".
std::string state_words(const TrainingState& state);

/// MFU with the causal half of the scores only: the arithmetic that the work fact counts.
double mfu_causal(const perf::Prediction& p);

/// The traffic of data parallelism per rank: ring collectives, (r - 1) / r of the buffer each way.
std::string traffic_fact(const Context& x, const Option& o);

/// Would one device of the chosen kind hold it? Empty where the question does not arise.
std::string one_device_fact(const Context& x, const Option& o);

}  // namespace trainyard::plan
