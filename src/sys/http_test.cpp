#include "trainyard/sys/http.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

namespace trainyard::sys {
namespace {

using namespace std::chrono_literals;

/// Listens on a free loopback port and gives each connection to `serve`, one after the other.
class Peer {
  public:
    explicit Peer(std::function<void(int)> serve) : serve_(std::move(serve)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
        ::listen(listener_, 16);
        socklen_t size = sizeof address;
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] {
            for (;;) {
                const int connection = ::accept(listener_, nullptr, nullptr);
                if (connection < 0 || is_ending_) {
                    if (connection >= 0) ::close(connection);
                    return;
                }
                ++connections;
                serve_(connection);
                ::close(connection);
            }
        });
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    ~Peer() {
        is_ending_ = true;
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    std::string url(const std::string& path) const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }
    std::atomic<int> connections = 0;

  private:
    std::function<void(int)> serve_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> is_ending_ = false;
    std::thread thread_;
};

/// Up to the blank line; empty: the connection ended.
std::string read_head(int connection) {
    std::string head;
    char c = 0;
    while (!head.ends_with("\r\n\r\n") && ::recv(connection, &c, 1, 0) == 1) head += c;
    return head;
}
void say(int connection, const std::string& text) {
    ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}
/// Until the other side closes.
void wait_for_end(int connection) {
    std::array<char, 4096> buffer{};
    while (::recv(connection, buffer.data(), buffer.size(), 0) > 0) {
    }
}

HttpRequest get(const std::string& url) {
    HttpRequest r;
    r.method = "GET";
    r.url = url;
    r.deadline = HttpClock::now() + 20s;
    r.use_proxy = false;
    return r;
}

TEST(Http, PathAndHeadersGoOutAsGiven) {
    std::string head;
    Peer peer([&](int c) {
        head = read_head(c);
        say(c, "HTTP/1.1 200 OK\r\nX-Odd:  a b \r\nContent-Length: 2\r\n\r\nhi");
    });
    HttpClient client;
    HttpRequest r = get(peer.url("/a/../b//./%2B?q=1&u="));
    r.headers = {{"x-amz-meta-empty", ""}, {"Authorization", "AWS4 x"}};
    const auto answer = client.perform(r);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "hi");
    EXPECT_EQ(answer->header("x-odd"), "a b");
    EXPECT_TRUE(head.starts_with("GET /a/../b//./%2B?q=1&u= HTTP/1.1\r\n")) << head;
    EXPECT_NE(head.find("x-amz-meta-empty:\r\n"), std::string::npos) << head;
    EXPECT_EQ(head.find("Expect"), std::string::npos) << head;
}

TEST(Http, ConnectionsAreKept) {
    Peer peer([](int c) {
        while (!read_head(c).empty()) say(c, "HTTP/1.1 204 No Content\r\n\r\n");
    });
    {
        HttpClient client;
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(client.perform(get(peer.url("/"))));
    }
    EXPECT_EQ(peer.connections, 1);
}

TEST(Http, BodyIsSentWithItsLength) {
    std::string head;
    std::string body(100, ' ');
    Peer peer([&](int c) {
        head = read_head(c);
        ::recv(c, body.data(), body.size(), MSG_WAITALL);
        say(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    const std::string sent(100, 'x');
    HttpRequest r = get(peer.url("/k"));
    r.method = "PUT";
    r.body = sent;
    HttpClient client;
    ASSERT_TRUE(client.perform(r));
    EXPECT_NE(head.find("Content-Length: 100\r\n"), std::string::npos) << head;
    EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos) << head;
    EXPECT_EQ(body, sent);
}

TEST(Http, RefusalBeforeTheBodySavesIt) {
    Peer peer([](int c) {
        if (read_head(c).find("Expect: 100-continue") == std::string::npos) return;
        say(c, "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    const std::string body(8 << 20, 'x');
    HttpRequest r = get(peer.url("/k"));
    r.method = "PUT";
    r.body = body;
    r.expect_continue = true;
    HttpClient client;
    const auto answer = client.perform(r);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(answer->status, 503);
}

TEST(Http, AnswerGoesWhereItShould) {
    Peer peer([](int c) {
        while (!read_head(c).empty()) {
            say(c, "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\n12345");
        }
    });
    HttpClient client;
    std::string to(5, ' ');
    HttpRequest r = get(peer.url("/k"));
    r.into = to;
    const auto answer = client.perform(r);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->received, 5U);
    EXPECT_EQ(to, "12345");
    r.into = std::span(to).first(4);
    const auto larger = client.perform(r);
    ASSERT_FALSE(larger);
    EXPECT_EQ(larger.error().fault, HttpFault::too_large);
}

TEST(Http, ErrorBodyIsNotTheObject) {
    Peer peer([](int c) {
        read_head(c);
        say(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nwhy");
    });
    std::string to(2, 'z');
    HttpRequest r = get(peer.url("/k"));
    r.into = to;
    HttpClient client;
    const auto answer = client.perform(r);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "why");
    EXPECT_EQ(to, "zz");
}

TEST(Http, CutShortIsBroken) {
    Peer peer([](int c) {
        read_head(c);
        say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123");
    });
    HttpClient client;
    const auto answer = client.perform(get(peer.url("/k")));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().fault, HttpFault::broken);
}

TEST(Http, NobodyListens) {
    HttpClient client;
    const auto answer = client.perform(get("http://127.0.0.1:1/"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().fault, HttpFault::connect);
}

TEST(Http, SilentServerEndsAtTheDeadline) {
    Peer peer([](int c) { wait_for_end(c); });
    HttpClient client;
    HttpRequest r = get(peer.url("/"));
    r.deadline = HttpClock::now() + 300ms;
    const auto answer = client.perform(r);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().fault, HttpFault::timed_out);
}

TEST(Http, TooSlowForTooLongEnds) {
    Peer peer([](int c) {
        read_head(c);
        say(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nx");
        wait_for_end(c);
    });
    HttpClient client;
    HttpRequest r = get(peer.url("/"));
    r.low_speed_time = 1s;
    const auto answer = client.perform(r);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().fault, HttpFault::timed_out);
    EXPECT_LT(HttpClock::now(), *r.deadline);
}

TEST(Http, StopEndsACallAtOnce) {
    Peer peer([](int c) { wait_for_end(c); });
    HttpClient client;
    std::stop_source source;
    HttpRequest r = get(peer.url("/"));
    r.stop = source.get_token();
    std::thread stopper([&] {
        std::this_thread::sleep_for(100ms);
        source.request_stop();
    });
    const auto answer = client.perform(r);
    stopper.join();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().fault, HttpFault::stopped);
    EXPECT_FALSE(client.perform(r));
}

TEST(Http, ManyThreadsShareOneClient) {
    Peer peer([](int c) {
        read_head(c);
        say(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n1");
    });
    HttpClient client({.threads = 2, .max_connections = 8, .ca_file = {}});
    std::atomic<int> good = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 10; ++j) {
                const auto answer = client.perform(get(peer.url("/")));
                good += answer && answer->body == "1" ? 1 : 0;
            }
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(good, 160);
}

TEST(Http, MalformedUrlIsRefused) {
    HttpClient client;
    for (const char* url : {"", "http://", "file:///etc/passwd", "gopher://127.0.0.1/"}) {
        const auto answer = client.perform(get(url));
        ASSERT_FALSE(answer) << url;
        EXPECT_EQ(answer.error().fault, HttpFault::refused) << answer.error().what;
    }
}

}  // namespace
}  // namespace trainyard::sys
