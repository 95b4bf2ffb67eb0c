#include "trainyard/sys/http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>

#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::sys {
namespace {

// With libcurl's own 64 KiB one core sends 1.2 GB/s instead of 2.8 (docs/reference/s3.md).
constexpr long kUploadBuffer = 512L << 10U;
constexpr long kReceiveBuffer = 512L << 10U;  // the most that libcurl takes

void start_libcurl() {
    static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    TRAINYARD_ASSERT(code == CURLE_OK, "libcurl starts on any machine with memory");
}

HttpFault fault_of(CURLcode code) {
    switch (code) {
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
            return HttpFault::resolve;
        case CURLE_COULDNT_CONNECT:
            return HttpFault::connect;
        case CURLE_OPERATION_TIMEDOUT:
            return HttpFault::timed_out;
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CERTPROBLEM:
            return HttpFault::tls;
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
            return HttpFault::refused;
        default:
            return HttpFault::broken;
    }
}

}  // namespace

std::optional<std::string_view> HttpResponse::header(std::string_view wanted) const {
    for (const HttpHeader& h : headers) {
        if (h.name == wanted) return h.value;
    }
    return std::nullopt;
}

namespace {

/// One request on its way; lives in perform().
struct Transfer {
    explicit Transfer(const HttpRequest& r) : request(r) {}
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer() { curl_slist_free_all(headers); }

    const HttpRequest& request;
    HttpResponse response;
    std::size_t sent = 0;
    bool is_too_large = false;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    std::array<char, CURL_ERROR_SIZE> words{};
    CURLcode code = CURLE_OK;
    std::atomic<bool> is_stopped = false;
    std::binary_semaphore done{0};
};

std::size_t on_read(char* to, std::size_t size, std::size_t count, void* user) {
    auto& t = *static_cast<Transfer*>(user);
    const std::string_view left = t.request.body.substr(t.sent);
    const std::size_t n = std::min(left.size(), size * count);
    std::memcpy(to, left.data(), n);
    t.sent += n;
    return n;
}

int on_seek(void* user, curl_off_t offset, int origin) {
    auto& t = *static_cast<Transfer*>(user);
    if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
    t.sent = std::min(static_cast<std::size_t>(offset), t.request.body.size());
    return CURL_SEEKFUNC_OK;
}

std::size_t on_write(char* from, std::size_t size, std::size_t count, void* user) {
    auto& t = *static_cast<Transfer*>(user);
    const std::size_t n = size * count;
    long status = 0;
    curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &status);
    if (!t.request.into.empty() && status / 100 == 2) {
        if (n > t.request.into.size() - t.response.received) {
            t.is_too_large = true;
            return 0;
        }
        std::memcpy(t.request.into.data() + t.response.received, from, n);
        t.response.received += n;
        return n;
    }
    if (n > t.request.max_body - std::min(t.request.max_body, t.response.body.size())) {
        t.is_too_large = true;
        return 0;
    }
    t.response.body.append(from, n);
    return n;
}

std::size_t on_header(char* from, std::size_t size, std::size_t count, void* user) {
    auto& t = *static_cast<Transfer*>(user);
    const std::string_view line(from, size * count);
    if (line.starts_with("HTTP/")) {
        t.response.headers.clear();  // of "100 Continue", or of a proxy
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
        t.response.headers.push_back(
            {to_lower(line.substr(0, colon)), std::string(trim(line.substr(colon + 1)))});
    }
    return line.size();
}

void set_method(CURL* easy, Transfer& t) {
    const HttpRequest& r = t.request;
    if (r.method == "HEAD") {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return;
    }
    if (r.method == "GET") {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        return;
    }
    if (r.method == "PUT" || r.method == "POST") {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(easy, CURLOPT_READDATA, &t);
        curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
        curl_easy_setopt(easy, CURLOPT_SEEKDATA, &t);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(r.body.size()));
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r.method.c_str());
}

void set_headers(CURL* easy, Transfer& t) {
    for (const HttpHeader& h : t.request.headers) {
        // libcurl drops "name:"; "name;" sends it with an empty value.
        const std::string line = h.value.empty() ? h.name + ";" : h.name + ": " + h.value;
        t.headers = curl_slist_append(t.headers, line.c_str());
    }
    t.headers = curl_slist_append(t.headers,
                                  t.request.expect_continue ? "Expect: 100-continue" : "Expect:");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t.headers);
}

void set_limits(CURL* easy, const HttpRequest& r) {
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(r.connect_timeout.count()));
    if (r.low_speed_time.count() > 0) {
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, r.low_speed);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(r.low_speed_time.count()));
    }
    if (r.deadline) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(*r.deadline - HttpClock::now());
        constexpr long kDay = 86'400'000;  // a timeout of 0 would mean none
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, std::clamp(long{left.count()}, 1L, kDay));
    }
}

}  // namespace

/// One thread that runs the transfers handed to it.
class HttpClient::Loop {
  public:
    explicit Loop(const HttpSettings& settings)
        : ca_file_(settings.ca_file), multi_(curl_multi_init()) {
        TRAINYARD_ASSERT(multi_ != nullptr, "libcurl starts on any machine with memory");
        curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS,
                          static_cast<long>(settings.max_connections));
        curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
        thread_ = std::thread([this] { run(); });
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop() {
        is_ending_ = true;
        curl_multi_wakeup(multi_);
        thread_.join();
        for (CURL* easy : idle_) curl_easy_cleanup(easy);
        curl_multi_cleanup(multi_);
    }

    void start(Transfer& t) {
        {
            const std::scoped_lock lock(mutex_);
            new_.push_back(&t);
        }
        curl_multi_wakeup(multi_);
    }
    /// `t` need not be running any more.
    void stop(Transfer& t) {
        t.is_stopped = true;
        has_stopped_ = true;
        curl_multi_wakeup(multi_);
    }

  private:
    void run() {
        while (!is_ending_) {
            take_new();
            if (has_stopped_.exchange(false)) end_stopped();
            int running = 0;
            curl_multi_perform(multi_, &running);
            bool has_ended = false;
            int left = 0;
            while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
                if (message->msg != CURLMSG_DONE) continue;
                end(running_by(message->easy_handle), message->data.result);
                has_ended = true;
            }
            // A caller that has just been answered is about to ask again.
            if (!has_ended) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
        }
    }

    void take_new() {
        std::vector<Transfer*> taken;
        {
            const std::scoped_lock lock(mutex_);
            taken.swap(new_);
        }
        for (Transfer* t : taken) {
            CURL* easy = nullptr;
            if (idle_.empty()) {
                easy = curl_easy_init();
            } else {
                easy = idle_.back();
                idle_.pop_back();
            }
            TRAINYARD_ASSERT(easy != nullptr, "a handle is a few kilobytes");
            set_up(easy, *t);
            running_.push_back(t);
            curl_multi_add_handle(multi_, easy);
        }
    }

    void set_up(CURL* easy, Transfer& t) const {
        t.easy = easy;
        curl_easy_reset(easy);
        curl_easy_setopt(easy, CURLOPT_URL, t.request.url.c_str());
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
        curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer);
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kReceiveBuffer);
        curl_easy_setopt(easy, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);  // spreads over S3's hosts
        curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 30L);
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t.words.data());
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &t);
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, &t);
        if (!t.request.use_proxy) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
        if (ca_file_) curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file_->c_str());
        set_method(easy, t);
        set_headers(easy, t);
        set_limits(easy, t.request);
    }

    Transfer& running_by(const CURL* easy) const {
        const auto found = std::find_if(running_.begin(), running_.end(),
                                        [easy](const Transfer* t) { return t->easy == easy; });
        TRAINYARD_ASSERT(found != running_.end(), "only what runs can end");
        return **found;
    }

    void end_stopped() {
        for (std::size_t i = running_.size(); i-- > 0;) {
            if (running_[i]->is_stopped) end(*running_[i], CURLE_ABORTED_BY_CALLBACK);
        }
    }

    void end(Transfer& t, CURLcode code) {
        long status = 0;
        curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &status);
        t.response.status = static_cast<int>(status);
        t.code = code;
        curl_multi_remove_handle(multi_, t.easy);
        idle_.push_back(t.easy);
        std::erase(running_, &t);
        t.done.release();  // the caller may destroy it from here on
    }

    std::optional<std::string> ca_file_;
    CURLM* multi_;
    std::vector<CURL*> idle_;         // of the thread
    std::vector<Transfer*> running_;  // of the thread
    std::mutex mutex_;
    std::vector<Transfer*> new_;  // under mutex_
    std::atomic<bool> has_stopped_ = false;
    std::atomic<bool> is_ending_ = false;
    std::thread thread_;
};

HttpClient::HttpClient(const HttpSettings& settings) {
    start_libcurl();
    HttpSettings all = settings;
    for (const char* variable : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
        const std::optional<std::string> file = get_env(variable);
        if (!all.ca_file && file && !file->empty()) all.ca_file = file;
    }
    for (int i = 0; i < std::max(1, settings.threads); ++i) {
        loops_.push_back(std::make_unique<Loop>(all));
    }
}

HttpClient::~HttpClient() = default;

tl::expected<HttpResponse, HttpError> HttpClient::perform(const HttpRequest& request) {
    if (request.stop.stop_requested()) {
        return tl::unexpected(HttpError{HttpFault::stopped, "stopped", 0});
    }
    if (request.deadline && *request.deadline <= HttpClock::now()) {
        return tl::unexpected(HttpError{HttpFault::timed_out, "the deadline has passed", 0});
    }
    Transfer t(request);
    const std::uint32_t turn = std::atomic_ref(next_).fetch_add(1, std::memory_order_relaxed);
    Loop& loop = *loops_[turn % loops_.size()];
    loop.start(t);
    {
        const std::stop_callback on_stop(request.stop, [&] { loop.stop(t); });
        t.done.acquire();
    }
    if (t.code == CURLE_OK) return std::move(t.response);
    HttpError error{fault_of(t.code), t.words.data(), t.response.status};
    if (error.what.empty()) error.what = curl_easy_strerror(t.code);
    if (t.is_too_large) {
        error = {HttpFault::too_large, "the answer is larger than expected", t.response.status};
    } else if (t.is_stopped) {
        error = {HttpFault::stopped, "stopped", t.response.status};
    }
    return tl::unexpected(std::move(error));
}

}  // namespace trainyard::sys
