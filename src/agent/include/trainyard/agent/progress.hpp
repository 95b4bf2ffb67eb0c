#pragma once
// Step, loss and speed from a line of a training log. Known by their words, whoever prints them:
// torchtitan, Megatron-LM, Hugging Face Trainer and its progress bar, DeepSpeed, Lightning,
// nanoGPT. Or by a pattern of the user's: literal text with {step}, {loss}, {tokens_per_second} and
// {*} for what is not of interest; blanks match any number of blanks.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::agent {

struct LogProgress {
    std::optional<std::int64_t> step;
    std::optional<std::int64_t> last_step;  ///< "100/5000": 5000
    std::optional<double> loss;             ///< may be NaN or infinite
    std::optional<TokensPerSecond> speed;
    bool has_any() const { return step || loss || speed; }
};

/// Colours of a terminal are left out first.
LogProgress read_progress(std::string_view line);

class ProgressPattern {
  public:
    static Result<ProgressPattern> parse(std::string_view text);
    LogProgress read(std::string_view line) const;

  private:
    struct Piece {
        enum class Kind { text, blank, step, loss, speed, any };
        Kind kind = Kind::text;
        std::string text;
    };
    std::vector<Piece> pieces_;
    bool match(std::string_view line, std::size_t at, LogProgress& found) const;
};

/// Splits what a log grew by into lines; a carriage return ends one too (progress bars).
class LineSplitter {
  public:
    /// Complete lines in `bytes` and what was left over. Lines over 16 KiB are cut.
    std::vector<std::string> feed(std::string_view bytes);

  private:
    std::string rest_;
};

}  // namespace trainyard::agent
