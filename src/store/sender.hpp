#pragma once
// Sends the files of one put: reuses what an older checkpoint has, resumes what was sent before.

#include <atomic>
#include <map>
#include <mutex>

#include "buffer_pool.hpp"
#include "trainyard/aws/part_plan.hpp"
#include "trainyard/store/repository.hpp"

namespace trainyard::store {

class Sender {
  public:
    Sender(Repository& repository, const PutRequest& request, const Manifest& intent,
           PutReport& report)
        : r_(repository), request_(request), intent_(intent), report_(report) {}

    /// The files as they are in the store now, in the order of the tree.
    /// `begun`: of the put, by the monotonic clock.
    Result<std::vector<StoredFile>> send(std::int64_t begun_ns);

  private:
    /// Where the bytes come from, read once for each purpose.
    struct Source {
        std::unique_ptr<sys::File> file;
        std::string path;
        const TreeFile* expected = nullptr;
    };
    Result<Source> open(const TreeFile& file);
    std::optional<Error> unchanged(const Source& source);
    Result<BufferPool::Lease> bytes(const Source& source, std::uint64_t offset, std::uint64_t size);
    /// Fills the checksums of `stored` from the disk; `etags`, if asked for, as S3 would make them.
    std::optional<Error> measure(const Source& source, StoredFile& stored,
                                 std::vector<aws::Part>* etags);
    Result<bool> has_bytes_of(const Source& source, const StoredFile& old);
    static bool is_there(const std::map<int, aws::Part>& there, int number, std::string_view body,
                         const aws::Checksum& sum);

    std::optional<Error> look_around();
    std::optional<Error> one(std::size_t index, int jobs);
    Result<bool> reuse(const Source& source, StoredFile& stored);
    Result<bool> resume_whole(const Source& source, StoredFile& stored);
    std::optional<Error> send_small(const Source& source, StoredFile& stored);
    std::optional<Error> send_parts(const Source& source, StoredFile& stored, int jobs);
    /// The open upload of this key with most parts; the others are aborted.
    Result<aws::Upload> upload_for(const StoredFile& stored, std::map<int, aws::Part>& there);
    void advance(std::uint64_t bytes);
    void count_sent(std::uint64_t bytes);
    /// With the deadline of this put. An error: it has passed.
    Result<aws::Call> call();
    Error late() const;
    /// What a failed call means: late, if the deadline was its reason.
    Error failed(const aws::StoreError& error) const;

    Repository& r_;
    const PutRequest& request_;
    const Manifest& intent_;
    PutReport& report_;
    BufferPool buffers_;
    std::mutex mutex_;  ///< of report_ and done_
    std::uint64_t done_ = 0;
    std::optional<std::int64_t> last_ns_;  ///< sending must end here
    std::vector<StoredFile> files_;
    std::map<std::string, StoredFile> base_;           ///< of the newest checkpoint, by path
    std::map<std::string, std::uint64_t> there_;       ///< objects of an earlier try: sizes
    std::multimap<std::string, aws::Upload> uploads_;  ///< open ones of an earlier try, by key
};

/// Checksum of an object's bytes, as the store has them. `parts` gets one for each part.
Result<std::uint64_t> stored_checksum(aws::ObjectStore& store, const std::string& key,
                                      std::uint64_t size, std::uint64_t part_size,
                                      const aws::Call& call);

}  // namespace trainyard::store
