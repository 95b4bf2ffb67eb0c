#pragma once
// For tests: passes every call on and makes one mistake (crash_world.hpp) on the way.

#include "crash_world.hpp"

namespace trainyard::store::crash {

std::unique_ptr<aws::ObjectStore> sabotaged(aws::ObjectStore& inner, Bug bug);

/// A machine whose syncs may do nothing.
class SabotagedEnv : public sys::MemoryEnv {
  public:
    SabotagedEnv(std::uint64_t seed, Bug bug) : sys::MemoryEnv(seed), bug_(bug) {}
    sys::IoResult<std::unique_ptr<sys::File>> create(const std::string& path) override;
    sys::IoResult<std::unique_ptr<sys::File>> open_to_write(const std::string& path) override;
    sys::IoDone sync_directory(const std::string& path) override;

  private:
    sys::IoResult<std::unique_ptr<sys::File>> unsynced(
        sys::IoResult<std::unique_ptr<sys::File>> file);
    Bug bug_;
};

}  // namespace trainyard::store::crash
