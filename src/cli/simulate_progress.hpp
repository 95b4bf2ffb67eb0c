#pragma once
// What a long simulation needs of the terminal: a progress bar on stderr, and Ctrl-C that stops the
// work but keeps the result.

#include <atomic>
#include <chrono>
#include <ostream>
#include <string_view>

namespace trainyard::cli {

/// One line on a terminal, redrawn at most ten times a second, none in the first 300 ms; gone when
/// the object is. On anything but a terminal it does nothing. One thread at a time.
class ProgressBar {
  public:
    ProgressBar(std::ostream& err, bool is_terminal);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    /// `words` stand before the time that is left: a rate.
    void show(double share, std::string_view words = {});
    void hide() { is_terminal_ = false; }  ///< from now on nothing is drawn

  private:
    using Clock = std::chrono::steady_clock;
    std::ostream& err_;
    bool is_terminal_;
    bool drawn_ = false;
    Clock::time_point begun_ = Clock::now();
    Clock::time_point last_ = begun_;
};

/// While it lives the first SIGINT sets the flag, and the second ends the process as usual.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    std::atomic<bool>* flag();
};

}  // namespace trainyard::cli
