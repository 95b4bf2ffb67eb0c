#include "trainyard/aws/credential_chain.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "../../tests/support/fault_server.hpp"
#include "credential_providers.hpp"
#include "shared_files.hpp"

namespace trainyard::aws {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class CredentialChain : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "trainyard-chain-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        home_ = name;
        fs::create_directory(home_ / ".aws");
        environment_ = {{"HOME", home_.string()}, {"AWS_EC2_METADATA_DISABLED", "true"}};
        settings_.environment = [this](const char* key) -> std::optional<std::string> {
            const auto found = environment_.find(key);
            return found == environment_.end() ? std::nullopt : std::optional(found->second);
        };
    }
    void TearDown() override { fs::remove_all(home_); }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(home_ / name) << text;
    }
    Result<Credentials> get() { return credential_chain(settings_)->get({}); }
    std::string refusal() {
        const Result<Credentials> got = get();
        return got ? "credentials " + got->access_key : format(got.error().diagnostics);
    }

    fs::path home_;
    std::map<std::string, std::string> environment_;
    ChainSettings settings_;
};

TEST_F(CredentialChain, EnvironmentComesFirst) {
    write(".aws/credentials", "[default]\naws_access_key_id=F\naws_secret_access_key=S\n");
    environment_["AWS_ACCESS_KEY_ID"] = "E";
    environment_["AWS_SECRET_ACCESS_KEY"] = "s";
    environment_["AWS_SESSION_TOKEN"] = "t";
    const auto got = get();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->access_key, "E");
    EXPECT_EQ(got->session_token, "t");
    settings_.profile = "default";  // unless the user names a profile
    EXPECT_EQ(get()->access_key, "F");
}

TEST_F(CredentialChain, HalfAnEnvironmentIsAnError) {
    environment_["AWS_SECRET_ACCESS_KEY"] = "hidden";
    const std::string text = refusal();
    EXPECT_NE(text.find("AWS_ACCESS_KEY_ID"), std::string::npos) << text;
    EXPECT_EQ(text.find("hidden"), std::string::npos) << text;
}

TEST_F(CredentialChain, ProfilesAndRegions) {
    write(".aws/credentials",
          "# mine\n[default]\naws_access_key_id = D\naws_secret_access_key = d # old\n"
          "[work]\r\naws_access_key_id=W\r\naws_secret_access_key=w\r\naws_session_token=t=\r\n");
    write(".aws/config",
          "[default]\nregion = eu-west-1\ns3 =\n  max_concurrent_requests = 20\n"
          "[profile work]\nregion=us-west-2\naws_access_key_id=loses\n");
    EXPECT_EQ(get()->access_key, "D");
    EXPECT_EQ(get()->secret_key, "d");
    EXPECT_EQ(configured_region(settings_), "eu-west-1");
    environment_["AWS_PROFILE"] = "work";
    EXPECT_EQ(get()->access_key, "W");
    EXPECT_EQ(get()->session_token, "t=");
    EXPECT_EQ(configured_region(settings_), "us-west-2");
    environment_["AWS_REGION"] = "ap-south-1";
    EXPECT_EQ(configured_region(settings_), "ap-south-1");
    environment_["AWS_PROFILE"] = "none";
    EXPECT_NE(refusal().find("profile \"none\""), std::string::npos) << refusal();
}

TEST_F(CredentialChain, NoneAnywhereNamesEveryPlace) {
    const auto got = get();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, ErrorKind::bad_input);
    EXPECT_NE(refusal().find("AWS_WEB_IDENTITY_TOKEN_FILE"), std::string::npos);
}

TEST_F(CredentialChain, RefusedCredentialsAreReadAgainFromTheFile) {
    write(".aws/credentials", "[default]\naws_access_key_id=A\naws_secret_access_key=a\n");
    const auto chain = credential_chain(settings_);
    EXPECT_EQ(chain->get({})->access_key, "A");
    write(".aws/credentials", "[default]\naws_access_key_id=B\naws_secret_access_key=b\n");
    EXPECT_EQ(chain->get({})->access_key, "A");
    chain->refuse({"other", "x", {}, {}});
    EXPECT_EQ(chain->get({})->access_key, "A");
    chain->refuse(*chain->get({}));
    EXPECT_EQ(chain->get({})->access_key, "B");
}

TEST_F(CredentialChain, TheCliGivesWhatNeedsALogin) {
    fs::create_directory(home_ / "bin");
    write(
        "bin/aws",
        "#!/bin/sh\n[ \"$1 $2 $3 $4\" = 'configure export-credentials --profile sso' ] || exit 9\n"
        "echo '{\"Version\":1,\"AccessKeyId\":\"C\",\"SecretAccessKey\":\"c\","
        "\"SessionToken\":\"t\",\"Expiration\":\"2035-01-02T03:04:05+00:00\"}'\n");
    fs::permissions(home_ / "bin/aws", fs::perms::owner_all);
    write(".aws/config", "[profile sso]\nsso_session = corp\n[profile other]\nrole_arn = arn:x\n");
    const std::string path = sys::get_env("PATH").value_or("");
    ::setenv("PATH", ((home_ / "bin").string() + ":" + path).c_str(), 1);
    settings_.profile = "sso";
    const auto got = get();
    settings_.profile = "other";
    const std::string text = refusal();
    ::setenv("PATH", path.c_str(), 1);
    ASSERT_TRUE(got) << format(got.error().diagnostics);
    EXPECT_EQ(got->access_key, "C");
    EXPECT_EQ(got->session_token, "t");
    ASSERT_TRUE(got->expires);
    EXPECT_EQ(*got->expires,
              std::chrono::sys_days{std::chrono::January / 2 / 2035} + 3h + 4min + 5s);
    EXPECT_NE(text.find("aws sso login --profile other"), std::string::npos) << text;
}

TEST_F(CredentialChain, ContainerCredentialsAreRenewedBeforeTheyExpire) {
    const FaultServer server({"--token-life", "3600"});
    if (server.port() == 0) GTEST_SKIP() << "no python3";
    environment_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = server.url() + "/-/credentials";
    auto offset = std::make_shared<std::chrono::minutes>(0);
    settings_.now = [offset] { return sys::wall_time() + *offset; };
    const auto chain = credential_chain(settings_);
    const std::string first = chain->get({})->access_key;
    EXPECT_EQ(chain->get({})->access_key, first);
    *offset = 54min;
    EXPECT_EQ(chain->get({})->access_key, first);
    *offset = 56min;  // within five minutes of the end
    EXPECT_NE(chain->get({})->access_key, first);
}

TEST_F(CredentialChain, KeysDoNotCrossANetworkInPlainText) {
    environment_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://example.com/keys";
    EXPECT_NE(refusal().find("plain text"), std::string::npos) << refusal();
    environment_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://127.0.0.1.example.com/keys";
    EXPECT_EQ(refusal().find("credentials "), std::string::npos);
}

TEST_F(CredentialChain, InstanceAndWebIdentity) {
    const FaultServer server({"--token-life", "3600"});
    if (server.port() == 0) GTEST_SKIP() << "no python3";
    environment_.erase("AWS_EC2_METADATA_DISABLED");
    environment_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server.url() + "/-/imds/";
    const auto instance = get();
    ASSERT_TRUE(instance) << format(instance.error().diagnostics);
    EXPECT_TRUE(instance->access_key.starts_with("ASIA"));
    ASSERT_TRUE(instance->expires);
    write("token", "jwt+/=\n");
    environment_["AWS_WEB_IDENTITY_TOKEN_FILE"] = (home_ / "token").string();
    environment_["AWS_ROLE_ARN"] = "arn:aws:iam::123456789012:role/r";
    environment_["AWS_ENDPOINT_URL_STS"] = server.url() + "/-/sts";
    const auto web = get();
    ASSERT_TRUE(web) << format(web.error().diagnostics);
    EXPECT_EQ(web->session_token, "of jwt+/=");
    ASSERT_TRUE(web->expires);
    write("token", "refused");
    EXPECT_NE(refusal().find("STS refuses"), std::string::npos) << refusal();
    EXPECT_EQ(refusal().find("jwt"), std::string::npos);
}

TEST_F(CredentialChain, SilentMetadataServiceIsNotWaitedFor) {
    environment_.erase("AWS_EC2_METADATA_DISABLED");
    environment_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:1";
    const auto before = std::chrono::steady_clock::now();
    EXPECT_NE(refusal().find("no AWS credentials"), std::string::npos) << refusal();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
}

TEST(ParseCredentials, WhatIsNone) {
    for (const char* text : {"", "[]", "{}", "{\"AccessKeyId\":\"a\"}", "null",
                             "{\"AccessKeyId\":1,"
                             "\"SecretAccessKey\":2}",
                             "<html>"}) {
        EXPECT_FALSE(parse_credentials(text)) << text;
    }
    const auto good = parse_credentials(
        R"({"AccessKeyId":"a","SecretAccessKey":"b","Token":"t","Expiration":1.8e9})");
    ASSERT_TRUE(good);
    EXPECT_EQ(good->session_token, "t");
    EXPECT_EQ(good->expires->time_since_epoch(), 1'800'000'000s);
}

}  // namespace
}  // namespace trainyard::aws
