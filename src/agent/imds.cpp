#include "trainyard/agent/imds.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <stop_token>
#include <thread>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/sys/clock.hpp"

namespace trainyard::agent {

using Level = action::Say::Level;

namespace {

constexpr const char* kTokenHeader = "X-aws-ec2-metadata-token";
constexpr int kRarely = 15;  ///< polls between looks at what changes over hours
/// A notice is gone once it was not there so often in a row: one lost answer means nothing.
constexpr int kAbsentToBeGone = 2;

/// `width` digits at `at`.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t width) {
    if (at + width > text.size()) return std::nullopt;
    int value = 0;
    const char* end = text.data() + at + width;
    const auto parsed = std::from_chars(text.data() + at, end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || value < 0) return std::nullopt;
    return value;
}

std::optional<double> seconds_of(int year, int month, int day, int hour, int minute, int second) {
    using namespace std::chrono;
    const year_month_day date{std::chrono::year(year),
                              std::chrono::month(static_cast<unsigned>(month)),
                              std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    const auto days = sys_days(date).time_since_epoch().count();
    return static_cast<double>(days) * 86400.0 + hour * 3600.0 + minute * 60.0 + second;
}

/// "+01:00", "-0530", "Z" or nothing; nullopt: something else.
std::optional<double> offset_of(std::string_view text) {
    if (text.empty() || text == "Z" || text == "z") return 0.0;
    if (text[0] != '+' && text[0] != '-') return std::nullopt;
    const auto hours = digits(text, 1, 2);
    const auto minutes = digits(text, text.find(':') == 3 ? 4 : 3, 2);
    if (!hours || !minutes) return std::nullopt;
    const double offset = *hours * 3600.0 + *minutes * 60.0;
    return text[0] == '-' ? -offset : offset;
}

std::string text_at(const doc::Node& map, const char* key) {
    const doc::Node* found = map.is(doc::Node::Kind::map) ? map.find(key) : nullptr;
    return found == nullptr ? "" : found->text();
}

}  // namespace

std::optional<double> parse_instant(std::string_view raw) {
    const std::string_view text = trim(raw);
    constexpr std::size_t kShortest = 19;
    if (text.size() < kShortest || text[4] != '-' || text[7] != '-' || text[13] != ':' ||
        text[16] != ':' || (text[10] != 'T' && text[10] != ' ')) {
        return std::nullopt;
    }
    std::array<std::optional<int>, 6> parts = {digits(text, 0, 4),  digits(text, 5, 2),
                                               digits(text, 8, 2),  digits(text, 11, 2),
                                               digits(text, 14, 2), digits(text, 17, 2)};
    for (const auto& part : parts) {
        if (!part) return std::nullopt;
    }
    std::size_t at = kShortest;
    if (at < text.size() && text[at] == '.') {
        ++at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    }
    const auto whole = seconds_of(*parts[0], *parts[1], *parts[2], *parts[3], *parts[4], *parts[5]);
    const auto offset = offset_of(text.substr(at));
    if (!whole || !offset) return std::nullopt;
    return *whole - *offset;
}

std::optional<double> parse_http_date(std::string_view text) {
    static constexpr std::array<std::string_view, 12> kMonths = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::size_t comma = text.find(", ");
    if (comma == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(comma + 2);
    constexpr std::size_t kLength = 20;  // "01 Dec 2026 08:22:00"
    if (rest.size() < kLength) return std::nullopt;
    int month = 0;
    for (std::size_t i = 0; i < kMonths.size(); ++i) {
        if (rest.substr(3, 3) == kMonths[i]) month = static_cast<int>(i) + 1;
    }
    const auto day = digits(rest, 0, 2);
    const auto year = digits(rest, 7, 4);
    const auto hour = digits(rest, 12, 2);
    const auto minute = digits(rest, 15, 2);
    const auto second = digits(rest, 18, 2);
    if (month == 0 || !day || !year || !hour || !minute || !second) return std::nullopt;
    return seconds_of(*year, month, *day, *hour, *minute, *second);
}

std::optional<InstanceAction> parse_instance_action(std::string_view body) {
    const auto root = doc::parse_json(body, "spot/instance-action");
    if (!root) return std::nullopt;
    InstanceAction found;
    found.action = text_at(*root, "action");
    if (found.action.empty()) return std::nullopt;
    found.time = parse_instant(text_at(*root, "time"));
    return found;
}

ImdsWatch::ImdsWatch(sys::Env& env, ImdsSettings settings, Perform perform, Post post)
    : env_(env),
      settings_(std::move(settings)),
      perform_(std::move(perform)),
      post_(std::move(post)),
      last_answer_(now()) {}

sys::HttpRequest ImdsWatch::request(const std::string& method, const std::string& path) const {
    sys::HttpRequest r;
    r.method = method;
    r.url = settings_.endpoint + path;
    const auto ms = static_cast<std::int64_t>(settings_.limit / kMillisecond);
    r.deadline = sys::HttpClock::now() + std::chrono::milliseconds(ms);
    r.connect_timeout = std::chrono::milliseconds(ms);
    r.max_body = std::size_t{64} << 10U;
    r.use_proxy = false;  // a link-local address means this machine
    return r;
}

/// False: no token, and none will be asked for without a reason.
bool ImdsWatch::refresh_token() {
    sys::HttpRequest r = request("PUT", "/latest/api/token");
    r.headers.push_back(
        {"X-aws-ec2-metadata-token-ttl-seconds", std::to_string(settings_.token_life)});
    const auto answer = perform_(r);
    token_.clear();
    token_until_.reset();
    std::string problem;
    if (answer && answer->status == 200 && !answer->body.empty() && answer->body.size() < 1024) {
        is_version_1_ = false;
        said_problem_.clear();
        token_ = std::string(trim(answer->body));
        // Half its life: a clock or a service that is a little off must not matter.
        token_until_ = now() + settings_.token_life / 2.0 * kSecond;
        return true;
    }
    if (answer && (answer->status == 404 || answer->status == 405 || answer->status == 501)) {
        is_version_1_ = true;  // it knows no tokens
        return true;
    }
    if (answer && answer->status == 403) {
        problem = "the metadata service is switched off for this instance (403)";
    } else if (!answer && answer.error().fault == sys::HttpFault::timed_out) {
        // With a hop limit of 1 the token never reaches a container, but a refusal does.
        const auto bare = perform_(request("GET", "/latest/meta-data/instance-id"));
        if (bare && bare->status == 401) {
            problem =
                "the metadata service answers but its token does not arrive: the hop limit is too "
                "low for a container (aws ec2 modify-instance-metadata-options "
                "--http-put-response-hop-limit 2)";
        }
    }
    if (!problem.empty() && problem != said_problem_) {
        said_problem_ = problem;
        remark(Level::alarm, "imds", problem + ": interruption notices are not seen");
    }
    return false;
}

ImdsWatch::Answer ImdsWatch::get_once(const std::string& path) {
    if (!is_version_1_ && (token_.empty() || now() >= *token_until_)) {
        if (!refresh_token()) return {};
    }
    sys::HttpRequest r = request("GET", path);
    if (!is_version_1_) r.headers.push_back({kTokenHeader, token_});
    const auto answer = perform_(r);
    if (!answer) return {};
    Answer made{answer->status, answer->body, {}};
    if (const auto date = answer->header("date")) made.date = parse_http_date(*date);
    return made;
}

ImdsWatch::Answer ImdsWatch::get(const std::string& path) {
    Answer answer = get_once(path);
    constexpr int kUnauthorized = 401;
    if (answer.status != kUnauthorized) return answer;
    // Expired, or the service has forgotten it: a new token, once.
    token_.clear();
    is_version_1_ = false;
    return get_once(path);
}

void ImdsWatch::remark(Level level, std::string event, std::string text) {
    post_(event::Remark{std::move(text), level, std::move(event)});
}

void ImdsWatch::see(bool has_answered) {
    if (has_answered) {
        if (is_blind_) remark(Level::info, "imds", "the metadata service answers again");
        if (!has_ever_answered_) {
            remark(Level::info, "imds",
                   "watching for interruption notices at " + settings_.endpoint);
        }
        has_ever_answered_ = true;
        is_blind_ = false;
        last_answer_ = now();
        return;
    }
    const Seconds silent = now() - last_answer_;
    if (has_ever_answered_ && !is_blind_ && silent >= settings_.blind_after) {
        is_blind_ = true;
        remark(Level::alarm, "imds",
               fmt::format("no answer from the metadata service for {}: an interruption would come "
                           "without notice",
                           format_duration(silent)));
    }
}

void ImdsWatch::notice(std::string what, const std::string& key, std::optional<Instant> deadline) {
    absent_ = 0;
    if (notice_ == key) return;
    notice_ = key;
    post_(event::Notice{std::move(what), deadline});
}

void ImdsWatch::gone() {
    if (notice_.empty() || ++absent_ < kAbsentToBeGone) return;
    notice_.clear();
    absent_ = 0;
    post_(event::NoticeGone{});
}

/// By the clock of the service where it tells it: ours may be wrong, theirs set the time.
std::optional<Instant> ImdsWatch::deadline_of(const InstanceAction& action, const Answer& answer) {
    if (!action.time) return std::nullopt;
    const double ours = static_cast<double>(env_.now_ns()) * 1e-9;
    const double left = *action.time - answer.date.value_or(ours);
    // In the past by our clock alone: the clock is as likely to be wrong as the time to be over.
    if (left < 0 && !answer.date) return std::nullopt;
    return now() + std::max(left, 0.0) * kSecond;
}

void ImdsWatch::look_for_action() {
    const Answer answer = get("/latest/meta-data/spot/instance-action");
    if (answer.status == 404) {
        see(true);
        if (lifecycle_ != "Terminated") gone();
        return;
    }
    if (answer.status != 200) return see(false);
    const auto action = parse_instance_action(answer.body);
    if (!action) {
        see(false);
        if (!has_said_malformed_) {
            remark(Level::warning, "imds",
                   "spot/instance-action cannot be read: \"" + printable(answer.body, 80) + "\"");
        }
        has_said_malformed_ = true;
        return;
    }
    see(true);
    std::string what = "spot " + printable(action->action, 40);
    if (action->time)
        what += " at " + printable(text_at(*doc::parse_json(answer.body, ""), "time"), 40);
    notice(std::move(what), answer.body, deadline_of(*action, answer));
}

void ImdsWatch::look_for_rebalance() {
    const Answer answer = get("/latest/meta-data/events/recommendations/rebalance");
    if (answer.status == 404) rebalance_.clear();
    if (answer.status != 200 || answer.body == rebalance_) return;
    const auto root = doc::parse_json(answer.body, "rebalance");
    if (!root || text_at(*root, "noticeTime").empty()) return;
    rebalance_ = answer.body;
    post_(event::Rebalance{"rebalance recommendation of " +
                           printable(text_at(*root, "noticeTime"), 40)});
}

void ImdsWatch::look_for_lifecycle() {
    const Answer answer = get("/latest/meta-data/autoscaling/target-lifecycle-state");
    if (answer.status != 200) return;
    lifecycle_ = std::string(trim(answer.body));
    if (lifecycle_ == "Terminated" && notice_.empty()) {
        notice("Auto Scaling terminates this instance", "asg", {});
    }
}

void ImdsWatch::look_for_maintenance() {
    const Answer answer = get("/latest/meta-data/events/maintenance/scheduled");
    if (answer.status != 200 || answer.body == maintenance_) return;
    const auto root = doc::parse_json(answer.body, "maintenance");
    if (!root || !root->is(doc::Node::Kind::list)) return;
    maintenance_ = answer.body;
    for (const doc::Node& item : root->items()) {
        const std::string state = text_at(item, "State");
        const std::string text = fmt::format(
            "maintenance {}: {} not before {}", printable(state, 20),
            printable(text_at(item, "Code"), 40), printable(text_at(item, "NotBefore"), 40));
        remark(state == "active" ? Level::warning : Level::info, "maintenance", text);
    }
}

void ImdsWatch::poll() {
    look_for_action();
    // A service that does not answer costs one request's time a poll, not four.
    if (is_blind_ || !has_ever_answered_) return;
    look_for_rebalance();
    if (polls_ % kRarely == 0) look_for_maintenance();
    look_for_lifecycle();
    ++polls_;
}

Seconds ImdsWatch::pause() const {
    constexpr double kSlower = 15;  // no EC2 machine: ask now and then
    return has_ever_answered_ ? settings_.interval : settings_.interval * kSlower;
}

struct ImdsThread::State {
    sys::HttpClient client;
    std::stop_source stop;
    ImdsWatch watch;
    std::thread thread;

    State(sys::Env& env, ImdsSettings settings, const ImdsWatch::Post& post)
        : watch(
              env, std::move(settings),
              [this](const sys::HttpRequest& r) {
                  sys::HttpRequest stoppable = r;
                  stoppable.stop = stop.get_token();
                  return client.perform(stoppable);
              },
              post) {}
    void loop() {
        while (!stop.stop_requested()) {
            watch.poll();
            const auto ns = static_cast<std::int64_t>(watch.pause() / kSecond * 1e9);
            if (!sys::wait_for(std::chrono::nanoseconds(ns), stop.get_token())) return;
        }
    }
};

ImdsThread::ImdsThread(sys::Env& env, ImdsSettings settings, const ImdsWatch::Post& post)
    : state_(std::make_unique<State>(env, std::move(settings), post)) {
    state_->thread = std::thread([state = state_.get()] { state->loop(); });
}

ImdsThread::~ImdsThread() {
    state_->stop.request_stop();
    state_->thread.join();
}

}  // namespace trainyard::agent
