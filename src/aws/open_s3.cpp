#include <fmt/format.h>

#include "endpoint.hpp"
#include "s3_store.hpp"
#include "trainyard/aws/s3.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::aws {
namespace {

Diagnostic mistake(std::string what, std::string why, std::string fix) {
    return {.severity = Severity::error,
            .where = {},
            .what = std::move(what),
            .why = std::move(why),
            .fix = std::move(fix)};
}

class FixedCredentials final : public CredentialSource {
  public:
    explicit FixedCredentials(Credentials credentials) : credentials_(std::move(credentials)) {}
    Result<Credentials> get(const std::stop_token& /*stop*/) override { return credentials_; }
    void refuse(const Credentials& /*credentials*/) override {}

  private:
    Credentials credentials_;
};

}  // namespace

std::shared_ptr<CredentialSource> fixed_credentials(Credentials credentials) {
    return std::make_shared<FixedCredentials>(std::move(credentials));
}

Result<std::unique_ptr<ObjectStore>> open_s3(S3Settings settings,
                                             std::shared_ptr<CredentialSource> credentials) {
    std::vector<Diagnostic> mistakes;
    if (!is_bucket_name(settings.bucket)) {
        mistakes.push_back(mistake(
            fmt::format("\"{}\" is no name of a bucket", printable(settings.bucket, 100)),
            "it has 3 to 63 characters of a-z, 0-9, \"-\" and \".\"", "write s3://bucket/prefix"));
    }
    if (!is_region_name(settings.region)) {
        mistakes.push_back(
            mistake(fmt::format("\"{}\" is no region", printable(settings.region, 100)), {},
                    "write it as us-east-1"));
    }
    const std::optional<Endpoint> endpoint = settings.endpoint.empty()
                                                 ? std::optional(aws_endpoint(settings.region))
                                                 : parse_endpoint(settings.endpoint);
    if (!endpoint) {
        mistakes.push_back(
            mistake(fmt::format("\"{}\" is no endpoint", printable(settings.endpoint, 200)),
                    "it is a scheme, a host and maybe a port", "write it as https://host:port"));
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    return std::unique_ptr<ObjectStore>(
        std::make_unique<S3Store>(std::move(settings), std::move(credentials), *endpoint));
}

}  // namespace trainyard::aws
