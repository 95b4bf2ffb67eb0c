#pragma once
// Serves one text over HTTP on 127.0.0.1 to whoever asks: for metrics. Any path gets it.

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "trainyard/sys/child.hpp"
#include "trainyard/sys/env.hpp"

namespace trainyard::sys {

class TextServer {
  public:
    /// Port 0: any free one. IoError: the port is taken.
    static IoResult<std::unique_ptr<TextServer>> start(int port);
    ~TextServer();
    TextServer(const TextServer&) = delete;
    TextServer& operator=(const TextServer&) = delete;
    int port() const { return port_; }
    void publish(std::string text);

  private:
    TextServer(Descriptor listener, int port);
    void loop();
    void answer(int connection);
    Descriptor listener_;
    Wakeup stop_;
    std::atomic<bool> is_over_ = false;
    int port_;
    std::mutex mutex_;
    std::string text_;
    std::thread thread_;
};

}  // namespace trainyard::sys
