#pragma once
// The operations of an ObjectStore as requests of S3's REST API
// (https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations.html).

#include <memory>
#include <string>
#include <vector>

#include "s3_exchange.hpp"

namespace trainyard::aws {

class S3Store final : public ObjectStore {
  public:
    S3Store(S3Settings settings, std::shared_ptr<CredentialSource> credentials,
            const Endpoint& endpoint);

    std::string name() const override;
    StoreResult<ObjectVersion> put(const std::string& key, std::string_view body,
                                   const PutOptions& options, const Call& call) override;
    StoreResult<Upload> create_upload(const std::string& key, ChecksumAlgorithm algorithm,
                                      const Call& call) override;
    StoreResult<Part> put_part(const Upload& upload, int number, std::string_view body,
                               Checksum checksum, const Call& call) override;
    StoreResult<ObjectVersion> complete_upload(const Upload& upload, const std::vector<Part>& parts,
                                               const CompleteOptions& options,
                                               const Call& call) override;
    StoreResult<std::monostate> abort_upload(const Upload& upload, const Call& call) override;
    StoreResult<PartListing> list_parts(const Upload& upload, const std::string& next,
                                        const Call& call) override;
    StoreResult<UploadListing> list_uploads(const std::string& prefix, const std::string& next,
                                            const Call& call) override;
    StoreResult<ObjectInfo> head(const std::string& key, const Call& call) override;
    StoreResult<std::monostate> get(const std::string& key, std::uint64_t offset,
                                    std::span<char> into, const std::optional<Checksum>& expected,
                                    const Call& call) override;
    StoreResult<std::string> read(const std::string& key, std::size_t max_size,
                                  const Call& call) override;
    StoreResult<Listing> list(const std::string& prefix, char delimiter, const std::string& next,
                              const Call& call) override;
    StoreResult<std::vector<RemoveFailure>> remove(const std::vector<std::string>& keys,
                                                   const Call& call) override;

  private:
    struct Headed {
        ObjectInfo info;
        std::string mark;  ///< what put() wrote beside the object
    };
    StoreResult<Headed> head_marked(const std::string& key, const Call& call);
    StoreResult<std::monostate> remove_one(const std::string& key, const Call& call);
    StoreResult<std::monostate> remove_batch(std::vector<std::string> keys, const Call& call,
                                             std::vector<RemoveFailure>& failures);
    /// Whether the object is the one that these parts make.
    bool is_completed(const Upload& upload, const std::vector<Part>& parts,
                      const CompleteOptions& options, const Call& call, ObjectVersion& version);
    std::optional<StoreError> refuse_key(const std::string& operation,
                                         const std::string& key) const;

    S3Exchange exchange_;
};

}  // namespace trainyard::aws
