#include "trainyard/agent/worker.hpp"

#include <utility>

namespace trainyard::agent {

void Mailbox::post(Event event) {
    {
        const std::lock_guard lock(mutex_);
        events_.push_back(std::move(event));
    }
    wakeup_.ring();
}

std::vector<Event> Mailbox::take() {
    wakeup_.clear();
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
}

Worker::Worker() : thread_([this] { loop(); }) {}

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        jobs_.clear();
    }
    changed_.notify_all();
    thread_.join();
}

void Worker::run(std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
}

void Worker::loop() {
    while (true) {
        std::function<void()> job;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return is_over_ || !jobs_.empty(); });
            if (is_over_) return;
            job = std::move(jobs_.front());
            jobs_.pop_front();
        }
        job();
    }
}

}  // namespace trainyard::agent
