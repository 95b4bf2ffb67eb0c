#pragma once
// The instance metadata service of EC2 (version 2): is this machine about to be taken away?
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html
// The contract and what goes wrong with it: docs/reference/supervisor.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trainyard/agent/machine.hpp"
#include "trainyard/sys/env.hpp"
#include "trainyard/sys/http.hpp"

namespace trainyard::agent {

/// Seconds since 1970, UTC, of "2026-12-01T08:22:00Z", also with a fraction or an offset
/// ("+01:00").
std::optional<double> parse_instant(std::string_view text);
/// The same of an HTTP date: "Tue, 01 Dec 2026 08:22:00 GMT".
std::optional<double> parse_http_date(std::string_view text);

/// The body of spot/instance-action. nullopt: none, or no JSON of that form.
struct InstanceAction {
    std::string action;          ///< "terminate", "stop", "hibernate"
    std::optional<double> time;  ///< absent: it cannot be read
};
std::optional<InstanceAction> parse_instance_action(std::string_view body);

struct ImdsSettings {
    std::string endpoint = "http://169.254.169.254";  ///< without a slash at the end
    Seconds interval = 2 * kSecond;                   ///< between polls
    Seconds limit = kSecond;                          ///< of one request
    Seconds blind_after = 10 * kSecond;               ///< without an answer: an alarm
    int token_life = 21600;                           ///< seconds; the most that AWS allows
};

/// One poll a call, and what it means. Not thread-safe.
class ImdsWatch {
  public:
    using Post = std::function<void(Event)>;
    /// `perform` sends a request; a test answers by itself.
    using Perform =
        std::function<tl::expected<sys::HttpResponse, sys::HttpError>(const sys::HttpRequest&)>;
    ImdsWatch(sys::Env& env, ImdsSettings settings, Perform perform, Post post);

    void poll();
    /// How long to wait now: longer where no such service has ever answered.
    Seconds pause() const;

  private:
    struct Answer {
        int status = 0;  ///< 0: none came
        std::string body;
        std::optional<double> date;  ///< the server's clock
    };
    Answer get(const std::string& path);
    Answer get_once(const std::string& path);
    bool refresh_token();
    sys::HttpRequest request(const std::string& method, const std::string& path) const;
    void look_for_action();
    void look_for_rebalance();
    void look_for_lifecycle();
    void look_for_maintenance();
    void see(bool has_answered);
    void notice(std::string what, const std::string& key, std::optional<Instant> deadline);
    void gone();
    void remark(action::Say::Level level, std::string event, std::string text);
    std::optional<Instant> deadline_of(const InstanceAction& action, const Answer& answer);
    Instant now() { return static_cast<double>(env_.steady_ns()) * 1e-9 * kSecond; }

    sys::Env& env_;
    ImdsSettings settings_;
    Perform perform_;
    Post post_;
    std::string token_;
    std::optional<Instant> token_until_;
    bool is_version_1_ = false;
    bool has_ever_answered_ = false;
    bool is_blind_ = false;
    bool has_said_malformed_ = false;
    std::string said_problem_;
    Instant last_answer_;
    int polls_ = 0;
    std::string notice_;  ///< what was told; empty: none
    int absent_ = 0;      ///< times in a row that a notice told before was not there
    std::string rebalance_;
    std::string lifecycle_;
    std::string maintenance_;
};

/// Polls in a thread until it is destroyed.
class ImdsThread {
  public:
    ImdsThread(sys::Env& env, ImdsSettings settings, const ImdsWatch::Post& post);
    ~ImdsThread();
    ImdsThread(const ImdsThread&) = delete;
    ImdsThread& operator=(const ImdsThread&) = delete;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace trainyard::agent
