#pragma once
// Work that blocks, in a thread of its own, so that the supervisor always answers.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "trainyard/agent/machine.hpp"
#include "trainyard/sys/child.hpp"

namespace trainyard::agent {

/// Where threads put what happened; the loop takes it.
class Mailbox {
  public:
    void post(Event event);
    std::vector<Event> take();
    int descriptor() const { return wakeup_.descriptor(); }

  private:
    std::mutex mutex_;
    std::vector<Event> events_;
    sys::Wakeup wakeup_;
};

/// Runs jobs one after another. The destructor lets the one at work end and drops the rest.
class Worker {
  public:
    Worker();
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    void run(std::function<void()> job);

  private:
    void loop();
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;
    bool is_over_ = false;
    std::thread thread_;
};

}  // namespace trainyard::agent
