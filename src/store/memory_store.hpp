#pragma once
// For tests: S3 in memory. Strong read-after-write, conditional puts, multipart; each call is one
// point where the process can die, before or after the effect.

#include <map>
#include <string>

#include "trainyard/aws/object_store.hpp"
#include "trainyard/sys/memory_env.hpp"

namespace trainyard::store {

class MemoryStore : public aws::ObjectStore {
  public:
    MemoryStore(sys::MemoryEnv& env, std::uint64_t part_size) : env_(env), part_size_(part_size) {}

    std::string name() const override { return "memory"; }
    aws::StoreLimits limits() const override;
    aws::StoreResult<aws::ObjectVersion> put(const std::string& key, std::string_view body,
                                             const aws::PutOptions& options,
                                             const aws::Call& call) override;
    aws::StoreResult<aws::Upload> create_upload(const std::string& key,
                                                aws::ChecksumAlgorithm algorithm,
                                                const aws::Call& call) override;
    aws::StoreResult<aws::Part> put_part(const aws::Upload& upload, int number,
                                         std::string_view body, aws::Checksum checksum,
                                         const aws::Call& call) override;
    aws::StoreResult<aws::ObjectVersion> complete_upload(const aws::Upload& upload,
                                                         const std::vector<aws::Part>& parts,
                                                         const aws::CompleteOptions& options,
                                                         const aws::Call& call) override;
    aws::StoreResult<std::monostate> abort_upload(const aws::Upload& upload,
                                                  const aws::Call& call) override;
    aws::StoreResult<aws::PartListing> list_parts(const aws::Upload& upload,
                                                  const std::string& next,
                                                  const aws::Call& call) override;
    aws::StoreResult<aws::UploadListing> list_uploads(const std::string& prefix,
                                                      const std::string& next,
                                                      const aws::Call& call) override;
    aws::StoreResult<aws::ObjectInfo> head(const std::string& key, const aws::Call& call) override;
    aws::StoreResult<std::monostate> get(const std::string& key, std::uint64_t offset,
                                         std::span<char> into,
                                         const std::optional<aws::Checksum>& expected,
                                         const aws::Call& call) override;
    aws::StoreResult<std::string> read(const std::string& key, std::size_t max_size,
                                       const aws::Call& call) override;
    aws::StoreResult<aws::Listing> list(const std::string& prefix, char delimiter,
                                        const std::string& next, const aws::Call& call) override;
    aws::StoreResult<std::vector<aws::RemoveFailure>> remove(const std::vector<std::string>& keys,
                                                             const aws::Call& call) override;

    struct Open {
        std::string key;
        std::int64_t started = 0;
        std::map<int, std::string> parts;
    };
    std::map<std::string, std::string> objects;
    std::map<std::string, Open> uploads;

  private:
    /// Runs `effect` unless the call fails before it; nullopt: the caller gets its result.
    template <typename F>
    std::optional<aws::StoreError> guarded(std::string_view operation, const F& effect);

    sys::MemoryEnv& env_;
    std::uint64_t part_size_;
    int next_upload_ = 1;
};

}  // namespace trainyard::store
