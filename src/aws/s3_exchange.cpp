#include "s3_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "digest.hpp"
#include "encoding.hpp"
#include "http_time.hpp"
#include "s3_xml.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::aws {
namespace {

using std::chrono::milliseconds;

/// The difference that S3 tolerates is 15 minutes; a correction below this explains nothing.
constexpr milliseconds kSkewThatMatters{60'000};
constexpr int kMostRedirects = 3;  // without a wait
constexpr int kMostRenewals = 6;

int thread_count(int wanted) {
    if (wanted > 0) return std::min(wanted, 64);
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 4, 1, 16);
}

std::string fix_of(StoreFault fault) {
    switch (fault) {
        case StoreFault::credentials:
            return "renew the credentials (aws sts get-caller-identity shows whose they are)";
        case StoreFault::access_denied:
            return "allow the operation in the policies of the role and of the bucket";
        case StoreFault::no_such_bucket:
            return "check the bucket's name and its region";
        case StoreFault::clock:
            return "set the machine's clock (chronyc tracking)";
        case StoreFault::full:
            return "free space in the store, or raise its quota";
        case StoreFault::throttled:
            return "try again later, with larger parts or fewer writers";
        case StoreFault::timed_out:
            return "check the network and the server; raise the deadline";
        default:
            return {};
    }
}

}  // namespace

struct S3Exchange::Attempt {
    int number = 0;
    int backoffs = 0;
    int redirects = 0;
    int renewals = 0;
    bool is_done = false;
    milliseconds skew{0};
    Credentials credentials;
    Target target;
    Judgement judgement;
    int status = 0;
    std::optional<ParsedTime> server_time;
    std::string elsewhere_region;
    std::string elsewhere_url;
    std::string code;
    std::string words;
    std::string fix;
    std::string request_id;
    sys::HttpResponse response;
};

S3Exchange::S3Exchange(S3Settings settings, std::shared_ptr<CredentialSource> credentials,
                       const Endpoint& endpoint)
    : settings_(std::move(settings)),
      credentials_(std::move(credentials)),
      http_({thread_count(settings_.http_threads), std::max(16, settings_.concurrency), {}}),
      gate_(std::max(1, settings_.concurrency)),
      is_own_endpoint_(!settings_.endpoint.empty()),
      target_{endpoint, std::make_shared<Signer>(settings_.region, "s3")},
      random_(settings_.seed != 0 ? settings_.seed : sys::entropy(), 0) {}

S3Exchange::Target S3Exchange::target() const {
    const std::scoped_lock lock(mutex_);
    return target_;
}

std::uint64_t S3Exchange::random() {
    const std::scoped_lock lock(mutex_);
    return random_.next();
}

StoreResult<sys::HttpResponse> S3Exchange::send(const S3Request& request, const Call& call) {
    Attempt a;
    for (;;) {
        ++a.number;
        run_once(request, call, a);
        if (a.is_done) return std::move(a.response);
        if (!recover(call, a)) return failure(request, a);
    }
}

void S3Exchange::prepare(const S3Request& request, const Call& call, Attempt& a,
                         sys::HttpRequest& http) const {
    const Address address = address_of(a.target.endpoint, settings_.addressing, settings_.bucket,
                                       request.key, canonical_query(request.query));
    http.method = request.method;
    http.url = address.url;
    http.headers = {{"Host", address.host}};
    http.headers.insert(http.headers.end(), request.headers.begin(), request.headers.end());
    const bool is_signed = settings_.sign_all_payloads || request.body.size() <= kSignedPayload;
    const std::string hash = is_signed ? hex(sha256(request.body)) : std::string(kUnsignedPayload);
    a.skew = milliseconds(skew_ms_.load());
    a.target.signer->sign({request.method, address.path, request.query, http.headers, hash},
                          a.credentials,
                          std::chrono::floor<std::chrono::seconds>(settings_.now() + a.skew));
    http.body = request.body;
    http.expect_continue = request.body.size() > settings_.continue_from;
    http.into = request.into;
    http.max_body = request.max_body;
    http.connect_timeout = settings_.connect_timeout;
    http.low_speed_time = request.may_be_silent ? std::chrono::seconds(0) : settings_.stall;
    const std::uint64_t bytes = std::max(request.body.size(), request.into.size());
    const auto limit =
        settings_.attempt_limit * (request.may_be_silent ? 10 : 1) +
        std::chrono::seconds(bytes / std::max<std::uint64_t>(1, settings_.slowest_rate));
    http.deadline = StoreClock::now() + limit;
    if (call.deadline) http.deadline = std::min(*http.deadline, *call.deadline);
    http.stop = call.stop;
}

void S3Exchange::run_once(const S3Request& request, const Call& call, Attempt& a) {
    a.status = 0;
    a.code.clear();
    a.words.clear();
    a.fix.clear();
    a.server_time.reset();
    Result<Credentials> credentials = credentials_->get(call.stop);
    if (!credentials) {
        a.judgement = {Step::credentials, StoreFault::credentials};
        const std::vector<Diagnostic>& all = credentials.error().diagnostics;
        a.words = all.empty() ? "no credentials" : all.front().what;
        if (!all.empty() && !all.front().why.empty()) a.words += ": " + all.front().why;
        if (!all.empty()) a.fix = all.front().fix;
        if (credentials.error().kind != ErrorKind::world) a.judgement.step = Step::fail;
        return;
    }
    a.credentials = *std::move(credentials);
    a.target = target();
    if (!gate_.enter(call.stop, call.deadline)) {
        a.judgement = {Step::fail, StoreFault::timed_out};
        return;
    }
    sys::HttpRequest http;
    prepare(request, call, a, http);
    tl::expected<sys::HttpResponse, sys::HttpError> answer = http_.perform(http);
    if (answer) {
        read_answer(request, *answer, a);
        a.response = *std::move(answer);
    } else {
        a.judgement = judge_transport(answer.error().fault);
        a.words = answer.error().what;
    }
    gate_.leave(!a.is_done && a.judgement.step == Step::again_slow);
}

void S3Exchange::read_answer(const S3Request& request, const sys::HttpResponse& response,
                             Attempt& a) const {
    a.status = response.status;
    a.request_id = std::string(response.header("x-amz-request-id").value_or(""));
    a.server_time = parse_http_time(response.header("date").value_or(""));
    if (response.status / 100 == 2) {
        const std::optional<Flaw> flaw =
            request.check ? request.check(response) : std::optional<Flaw>();
        a.is_done = !flaw;
        if (!flaw) return;
        a.code = flaw->code;
        a.words = flaw->what;
        a.judgement = judge_answer(response.status, flaw->code);
        if (flaw->code.empty()) a.judgement.fault = flaw->fault;
        return;
    }
    const std::optional<ErrorDocument> document = parse_error(response.body);
    if (document) {
        a.code = document->code;
        a.words = printable(document->message, 300);
        if (a.request_id.empty()) a.request_id = document->request_id;
    }
    a.judgement = judge_answer(response.status, a.code);
    if (a.code.empty()) judge_headless(response, a);
    const std::optional<std::string_view> region = response.header("x-amz-bucket-region");
    a.elsewhere_region = region ? std::string(*region) : document ? document->region : "";
    // A path in it is that of the object, which address_of() names again.
    const std::string_view location = response.header("location").value_or("");
    a.elsewhere_url = location.substr(0, location.find('/', location.find("://") + 3));
    if (a.elsewhere_url.empty() && document && !document->endpoint.empty()) {
        a.elsewhere_url = a.target.endpoint.scheme + "://" + document->endpoint;
    }
}

/// HEAD has no body, so the reason of a refusal must be guessed: the clock if it is wrong, else the
/// credentials (400 is an expired token), and only then the permissions.
void S3Exchange::judge_headless(const sys::HttpResponse& response, Attempt& a) const {
    if (response.status != 403 && response.status != 400) return;
    const auto local = settings_.now() + a.skew;
    if (a.server_time && std::chrono::abs(*a.server_time - local) > std::chrono::minutes(5)) {
        a.judgement = {Step::clock, StoreFault::clock};
    } else if (a.renewals < (response.status == 400 ? 4 : 1)) {
        a.judgement = {Step::credentials, a.judgement.fault};
    }
}

bool S3Exchange::recover(const Call& call, Attempt& a) {
    if (call.stop.stop_requested()) {
        a.judgement = {Step::fail, StoreFault::stopped};
        return false;
    }
    if (a.number >= settings_.attempts) return false;
    switch (a.judgement.step) {
        case Step::again:
        case Step::again_slow:
            return back_off(call, a);
        case Step::redirect:
            ++a.redirects;
            if (redirect(a)) return a.redirects <= kMostRedirects || back_off(call, a);
            return a.status == 307 && back_off(call, a);  // "for now"; 301 would say it for ever
        case Step::clock:
            return correct_clock(a);
        case Step::credentials:
            if (++a.renewals > kMostRenewals) return false;
            credentials_->refuse(a.credentials);
            return a.renewals == 1 || back_off(call, a);
        case Step::fail:
            return false;
    }
    return false;
}

bool S3Exchange::redirect(const Attempt& a) {
    Target next = a.target;
    const bool has_region =
        is_region_name(a.elsewhere_region) && a.elsewhere_region != a.target.signer->region();
    if (has_region) next.signer = std::make_shared<Signer>(a.elsewhere_region, "s3");
    if (has_region && !is_own_endpoint_) {
        next.endpoint = aws_endpoint(a.elsewhere_region);
    } else if (std::optional<Endpoint> given = parse_endpoint(a.elsewhere_url)) {
        const std::string bucket = settings_.bucket + ".";
        if (given->host.starts_with(bucket)) given->host.erase(0, bucket.size());
        given->base = a.target.endpoint.base;
        const bool is_safe =
            given->scheme == a.target.endpoint.scheme && (given->is_aws || is_own_endpoint_);
        if (is_safe) next.endpoint = *given;
    }
    const std::scoped_lock lock(mutex_);
    const bool others_moved =
        target_.signer != a.target.signer || target_.endpoint != a.target.endpoint;
    if (others_moved) return true;
    if (next.signer == a.target.signer && next.endpoint == a.target.endpoint) return false;
    target_ = next;
    return true;
}

bool S3Exchange::correct_clock(const Attempt& a) {
    if (skew_ms_.load() != a.skew.count()) return true;  // another thread was here first
    if (!a.server_time) return false;
    const auto skew = std::chrono::duration_cast<milliseconds>(*a.server_time - settings_.now());
    if (std::chrono::abs(skew - a.skew) < kSkewThatMatters) return false;
    skew_ms_.store(skew.count());
    return true;
}

bool S3Exchange::back_off(const Call& call, Attempt& a) {
    const bool is_slow = a.judgement.step == Step::again_slow;
    const auto base = is_slow ? settings_.throttled_backoff : settings_.backoff;
    const int doublings = std::min(a.backoffs++, 20);
    const double most = std::min(static_cast<double>(settings_.longest_backoff.count()),
                                 static_cast<double>(base.count()) * std::exp2(doublings));
    double part = 0;
    {
        const std::scoped_lock lock(mutex_);
        part = random_.uniform();
    }
    const auto wait = std::chrono::microseconds(static_cast<std::int64_t>(1000 * most * part));
    if (call.deadline && StoreClock::now() + wait >= *call.deadline) {
        a.judgement.fault =
            a.judgement.fault == StoreFault::transport ? StoreFault::timed_out : a.judgement.fault;
        return false;
    }
    if (sys::wait_for(wait, call.stop)) return true;
    a.judgement.fault = StoreFault::stopped;
    return false;
}

StoreError S3Exchange::failure(const S3Request& request, const Attempt& a) const {
    StoreError error;
    error.fault = a.judgement.fault;
    const std::string key = request.key.empty() ? "" : "/" + printable(request.key, 1100);
    error.what = fmt::format("{} s3://{}{} failed", request.operation, settings_.bucket, key);
    if (!a.words.empty()) error.what += ": " + a.words;
    error.fix = a.fix.empty() ? fix_of(error.fault) : a.fix;
    if (a.judgement.step == Step::redirect) {
        error.fix = a.elsewhere_region.empty()
                        ? "give the endpoint and region where the bucket is"
                        : "give the region " + printable(a.elsewhere_region, 40);
    }
    error.http_status = a.status;
    error.code = printable(a.code, 100);
    error.request_id = printable(a.request_id, 100);
    error.attempts = a.number;
    return error;
}

}  // namespace trainyard::aws
