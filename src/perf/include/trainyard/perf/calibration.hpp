#pragma once
// What measured runs of one's own say about the next prediction: a factor on the step time and a
// narrower band, for the same model family, instance type and software stack. The statistics are
// docs/model/calibration.md; the file's format docs/reference/calibration.md. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/perf/predict.hpp"
#include "trainyard/workload/model.hpp"

namespace trainyard::perf {

/// What a calibration holds for, and for nothing else.
struct CalibrationKey {
    std::string family;    ///< of the model: "llama"; its name where no family is known
    std::string instance;  ///< EC2 type
    std::string stack;     ///< "tuned", "pytorch-fsdp", …
    bool operator==(const CalibrationKey&) const = default;
    auto operator<=>(const CalibrationKey&) const = default;
};
CalibrationKey calibration_key(const workload::Model& model, const workload::Training& training,
                               const catalog::Accelerator& accelerator, std::string_view instance);

/// The step time over a stretch of a run.
struct StepSpan {
    std::int64_t steps = 0;
    Seconds time;
};

/// One run against its prediction.
struct MeasuredRun {
    double ratio = 1;          ///< measured / predicted step time: the median span
    double variance = 0;       ///< of ln(ratio), from the spans' spread and their correlation
    std::vector<double> seen;  ///< measured / predicted, each span
    std::int64_t steps = 0;
    std::string source;
};
inline constexpr std::size_t kFewestSpans = 3;
/// Precondition: at least kFewestSpans spans, each with steps and time.
MeasuredRun measure(const std::vector<StepSpan>& spans, Seconds predicted, std::string source);

struct Calibration {
    CalibrationKey key;
    double factor = 1;  ///< on the predicted step time
    ErrorBand band;     ///< around the corrected step time
    std::int64_t steps = 0;
    std::vector<std::string> sources;  ///< one a run
};

/// `before`: the band that the prediction has without these runs. Precondition: `runs` has one.
Calibration calibrate(CalibrationKey key, const ErrorBand& before,
                      const std::vector<MeasuredRun>& runs);

/// A step `factor` times as long, every part of it; speed and MFU follow.
void scale_step(Prediction& prediction, double factor);

class Calibrations {
  public:
    static Result<Calibrations> parse(std::string_view text, std::string_view file);
    doc::Node json(std::string_view today) const;
    void add(Calibration one) { all_.push_back(std::move(one)); }
    /// nullptr: no run of this kind was measured.
    const Calibration* find(const CalibrationKey& key) const;
    const std::vector<Calibration>& all() const { return all_; }

  private:
    std::vector<Calibration> all_;
};

}  // namespace trainyard::perf
