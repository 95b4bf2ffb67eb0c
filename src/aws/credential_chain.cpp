#include "trainyard/aws/credential_chain.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "credential_providers.hpp"
#include "shared_files.hpp"

namespace trainyard::aws {
namespace {

using namespace std::chrono_literals;

/// Renewed this long before they expire, or in the last fifth of a shorter life.
constexpr std::chrono::seconds kRenewBefore = 5min;

using Provider = Provided (*)(const ProviderContext&);
constexpr std::array<Provider, 5> kOrder = {from_environment, from_web_identity, from_profile,
                                            from_container, from_instance};

class Chain final : public CredentialSource {
  public:
    explicit Chain(ChainSettings settings) : settings_(std::move(settings)) {}

    Result<Credentials> get(const std::stop_token& stop) override {
        const std::scoped_lock lock(mutex_);  // one fetch for all who wait
        const auto now = settings_.now();
        if (current_ && (!current_->expires || now < renew_at_)) return *current_;
        Result<Credentials> fresh = fetch(stop);
        if (!fresh) {
            // Still good for a while: the next call tries again.
            if (current_ && now < *current_->expires) return *current_;
            return fresh;
        }
        current_ = *fresh;
        if (current_->expires) {
            const auto life = std::max<std::chrono::milliseconds>(0ms, *current_->expires - now);
            renew_at_ =
                *current_->expires - std::min<std::chrono::milliseconds>(kRenewBefore, life / 5);
        }
        return *current_;
    }

    void refuse(const Credentials& credentials) override {
        const std::scoped_lock lock(mutex_);
        // Another thread may have renewed them since.
        if (current_ && current_->access_key == credentials.access_key &&
            current_->session_token == credentials.session_token) {
            current_.reset();
        }
    }

  private:
    Result<Credentials> fetch(const std::stop_token& stop) {
        const ProviderContext context{settings_, http_, stop};
        if (!settings_.profile.empty()) provider_ = from_profile;
        if (provider_ != nullptr) {
            Provided again = provider_(context);
            if (!again) return again.error();
            if (*again) return **std::move(again);
        }
        for (const Provider provider : kOrder) {
            Provided provided = provider(context);
            if (!provided) return provided.error();
            if (*provided) {
                provider_ = provider;
                return **std::move(provided);
            }
        }
        Error none = provider_error(
            "there are no AWS credentials",
            "neither AWS_ACCESS_KEY_ID nor AWS_WEB_IDENTITY_TOKEN_FILE is set, the profile \"" +
                profile_name(settings_) +
                "\" has none, no container endpoint is named and no instance role answers",
            "aws configure, or aws sso login and AWS_PROFILE");
        none.kind = ErrorKind::bad_input;  // trying again finds none either
        return none;
    }

    ChainSettings settings_;
    sys::HttpClient http_;
    std::mutex mutex_;
    Provider provider_ = nullptr;  // under mutex_, as all below
    std::optional<Credentials> current_;
    sys::WallTime renew_at_{};
};

}  // namespace

std::shared_ptr<CredentialSource> credential_chain(ChainSettings settings) {
    return std::make_shared<Chain>(std::move(settings));
}

}  // namespace trainyard::aws
