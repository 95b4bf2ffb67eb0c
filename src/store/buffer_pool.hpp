#pragma once
// Buffers of one part each that are used again: fresh memory of this size costs a page fault for
// every 4 KiB, more than the checksum of what is read into it.

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::store {

class BufferPool {
  public:
    /// Gives its memory back at the end of its life; the pool outlives it.
    class Lease {
      public:
        Lease(BufferPool& pool, std::string memory) : pool_(&pool), memory_(std::move(memory)) {}
        Lease(Lease&& other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)), memory_(std::move(other.memory_)) {}
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        Lease& operator=(Lease&&) = delete;
        ~Lease() {
            if (pool_ != nullptr) pool_->give_back(std::move(memory_));
        }
        std::string& operator*() { return memory_; }
        const std::string& operator*() const { return memory_; }
        std::string* operator->() { return &memory_; }
        const std::string* operator->() const { return &memory_; }

      private:
        BufferPool* pool_;
        std::string memory_;
    };

    /// Of this size, with any contents.
    Lease lease(std::size_t size) {
        std::string memory;
        {
            const std::scoped_lock lock(mutex_);
            if (!free_.empty()) {
                memory = std::move(free_.back());
                free_.pop_back();
            }
        }
        memory.resize(size);
        return {*this, std::move(memory)};
    }

  private:
    void give_back(std::string memory) {
        const std::scoped_lock lock(mutex_);
        free_.push_back(std::move(memory));
    }

    std::mutex mutex_;
    std::vector<std::string> free_;
};

}  // namespace trainyard::store
