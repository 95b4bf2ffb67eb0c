#include "trainyard/sys/text_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace trainyard::sys {

IoResult<std::unique_ptr<TextServer>> TextServer::start(int port) {
    const std::string name = "127.0.0.1:" + std::to_string(port);
    Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (listener.get() < 0) return IoError{errno, name, "open"};
    const int yes = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    // The socket interface takes every family as sockaddr.
    auto* general = reinterpret_cast<sockaddr*>(&address);
    constexpr int kWaiting = 16;
    if (::bind(listener.get(), general, sizeof address) != 0 ||
        ::listen(listener.get(), kWaiting) != 0) {
        return IoError{errno, name, "listen at"};
    }
    socklen_t length = sizeof address;
    ::getsockname(listener.get(), general, &length);
    const int bound = ntohs(address.sin_port);
    return std::unique_ptr<TextServer>(new TextServer(std::move(listener), bound));
}

TextServer::TextServer(Descriptor listener, int port)
    : listener_(std::move(listener)), port_(port), thread_([this] { loop(); }) {}

TextServer::~TextServer() {
    is_over_ = true;
    stop_.ring();
    thread_.join();
}

void TextServer::publish(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
}

void TextServer::loop() {
    constexpr std::int64_t kHourNs = 3'600'000'000'000;
    while (!is_over_) {
        wait_readable({listener_.get(), stop_.descriptor()}, kHourNs);
        if (is_over_) return;
        const Descriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection.get() >= 0) answer(connection.get());
    }
}

void TextServer::answer(int connection) {
    // Whoever dawdles is cut off: one at a time is served.
    const timeval limit{.tv_sec = 1, .tv_usec = 0};
    ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    std::string request;
    std::array<char, 2048> buffer{};
    constexpr std::size_t kMost = 8192;
    while (request.size() < kMost && request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t n = ::recv(connection, buffer.data(), buffer.size(), 0);
        if (n <= 0) return;
        request.append(buffer.data(), static_cast<std::size_t>(n));
    }
    std::string body;
    {
        const std::lock_guard lock(mutex_);
        body = text_;
    }
    const std::string whole =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    std::string_view left = whole;
    while (!left.empty()) {
        const ssize_t n = ::send(connection, left.data(), left.size(), MSG_NOSIGNAL);
        if (n <= 0) return;
        left.remove_prefix(static_cast<std::size_t>(n));
    }
}

}  // namespace trainyard::sys
