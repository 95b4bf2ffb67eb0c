#pragma once
// An output stream on a file descriptor that remembers why a write failed, which std::cout does
// not: a closed pipe is a quiet end, a full disk is an error.

#include <array>
#include <streambuf>

namespace trainyard::cli {

class DescriptorBuffer : public std::streambuf {
  public:
    explicit DescriptorBuffer(int fd);

    /// 0, or the errno of the first write that failed; nothing is written after it.
    int failure() const { return failure_; }

  protected:
    int_type overflow(int_type c) override;
    int sync() override;

  private:
    int fd_;
    int failure_ = 0;
    std::array<char, 16384> buffer_{};
};

}  // namespace trainyard::cli
