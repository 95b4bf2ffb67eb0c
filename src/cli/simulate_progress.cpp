#include "simulate_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

using namespace std::chrono_literals;
constexpr std::size_t kWidth = 30;

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void request_stop(int /*signal*/) {
    stop_requested.store(true);
    constexpr char kWords[] = "\ntrainyard: stopping; Ctrl-C again kills\n";
    // Nothing can be done about a failure here.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kWords, sizeof kWords - 1);
}

}  // namespace

ProgressBar::ProgressBar(std::ostream& err, bool is_terminal)
    : err_(err), is_terminal_(is_terminal) {}

ProgressBar::~ProgressBar() {
    if (drawn_) err_ << "\r\033[K" << std::flush;
}

void ProgressBar::show(double share, std::string_view words) {
    const Clock::time_point now = Clock::now();
    if (!is_terminal_ || now - begun_ < 300ms || (drawn_ && now - last_ < 100ms)) return;
    last_ = now;
    drawn_ = true;
    const double elapsed = std::chrono::duration<double>(now - begun_).count();
    const double done = std::clamp(share, 0.0, 1.0);
    const auto full = static_cast<std::size_t>(done * static_cast<double>(kWidth));
    const std::string left =
        done > 0 ? format_duration(elapsed * (1 - done) / done * kSecond) + " left" : "";
    err_ << fmt::format("\r\033[K[{}{}] {:.0f} %  {}{}{}", std::string(full, '#'),
                        std::string(kWidth - full, ' '), 100 * done, words,
                        words.empty() || left.empty() ? "" : ", ", left)
         << std::flush;
}

InterruptGuard::InterruptGuard() {
    stop_requested.store(false);
    struct sigaction action{};
    action.sa_handler = request_stop;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
    std::signal(SIGINT, SIG_DFL);  // NOLINT(cert-err33-c): SIG_DFL is always accepted
}

std::atomic<bool>* InterruptGuard::flag() { return &stop_requested; }

}  // namespace trainyard::cli
