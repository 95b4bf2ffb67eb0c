#include "credential_providers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "encoding.hpp"
#include "endpoint.hpp"
#include "http_time.hpp"
#include "shared_files.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/sys/process.hpp"

namespace trainyard::aws {
namespace {

using namespace std::chrono_literals;

std::string variable(const ProviderContext& context, const char* name) {
    return context.settings.environment(name).value_or("");
}

std::string member(const doc::Node& map, const char* key) {
    const doc::Node* found = map.find(key);
    return found != nullptr && found->is(doc::Node::Kind::string) ? found->text() : "";
}

std::optional<Credentials> credentials_in(const doc::Node& map) {
    Credentials c{member(map, "AccessKeyId"),
                  member(map, "SecretAccessKey"),
                  member(map, "SessionToken"),
                  {}};
    if (c.session_token.empty()) c.session_token = member(map, "Token");
    if (c.access_key.empty() || c.secret_key.empty()) return std::nullopt;
    const doc::Node* expires = map.find("Expiration");
    if (expires != nullptr && expires->is_numeric() && std::abs(expires->as_number()) < 1e11) {
        c.expires =
            ParsedTime(std::chrono::seconds(static_cast<std::int64_t>(expires->as_number())));
    } else if (expires != nullptr) {
        c.expires = parse_iso_time(expires->text());
    }
    return c;
}

sys::HttpRequest local_request(const ProviderContext& context, std::string method, std::string url,
                               std::chrono::milliseconds limit) {
    sys::HttpRequest r;
    r.method = std::move(method);
    r.url = std::move(url);
    r.deadline = sys::HttpClock::now() + limit;
    r.connect_timeout = 1s;
    r.max_body = std::size_t{1} << 20U;
    r.use_proxy = false;  // a link-local address means this machine
    r.stop = context.stop;
    return r;
}

/// https, or a host that is this machine or its container agent: keys must not cross a network in
/// plain text (the rule of AWS's own tools).
bool is_safe_container_url(const std::string& url) {
    const std::optional<Endpoint> endpoint = parse_endpoint(url);
    if (!endpoint) return false;
    if (endpoint->scheme == "https") return true;
    const std::string& host = endpoint->host;
    for (const char* allowed :
         {"127.", "localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"}) {
        const std::string_view name = allowed;
        const bool is_prefix = name.ends_with('.') && host.starts_with(name);
        if (is_prefix || host == name || host.starts_with(std::string(name) + ":")) return true;
    }
    return false;
}

Provided from_cli(const std::string& profile) {
    const auto done = sys::run_process(
        {"aws", "configure", "export-credentials", "--profile", profile, "--format", "process"},
        60s);
    const std::string fix = fmt::format(
        "aws sso login --profile {0}, or try: aws sts get-caller-identity --profile {0}", profile);
    if (!done) {
        return provider_error(
            fmt::format("the profile \"{}\" needs the AWS CLI version 2", printable(profile, 100)),
            done.error().diagnostics.front().why, "install it, or export the keys");
    }
    if (done->status != 0) {
        return provider_error(fmt::format("the AWS CLI gives no credentials for the profile \"{}\"",
                                          printable(profile, 100)),
                              printable(trim(done->err), 300), fix);
    }
    std::optional<Credentials> credentials = parse_credentials(done->out);
    if (!credentials) {
        return provider_error("the AWS CLI printed no credentials", {}, fix);
    }
    return credentials;
}

}  // namespace

Error provider_error(std::string what, std::string why, std::string fix) {
    return {ErrorKind::world,
            {{.severity = Severity::error,
              .where = {},
              .what = std::move(what),
              .why = std::move(why),
              .fix = std::move(fix)}}};
}

std::optional<Credentials> parse_credentials(std::string_view json) {
    const Result<doc::Node> root = doc::parse_json(json, "credentials");
    if (!root || !root->is(doc::Node::Kind::map)) return std::nullopt;
    return credentials_in(*root);
}

Provided from_environment(const ProviderContext& context) {
    Credentials c{variable(context, "AWS_ACCESS_KEY_ID"),
                  variable(context, "AWS_SECRET_ACCESS_KEY"),
                  variable(context, "AWS_SESSION_TOKEN"),
                  {}};
    if (c.access_key.empty() && c.secret_key.empty()) return std::optional<Credentials>();
    if (c.access_key.empty() || c.secret_key.empty()) {
        return provider_error("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set", {},
                              "set both or neither");
    }
    c.expires = parse_iso_time(variable(context, "AWS_CREDENTIAL_EXPIRATION"));
    return std::optional(std::move(c));
}

Provided from_web_identity(const ProviderContext& context) {
    const std::string file = variable(context, "AWS_WEB_IDENTITY_TOKEN_FILE");
    const std::string role = variable(context, "AWS_ROLE_ARN");
    if (file.empty() || role.empty()) return std::optional<Credentials>();
    const Result<std::string> token = sys::read_file(file, std::size_t{1} << 20U);
    if (!token) return token.error();
    std::string session = variable(context, "AWS_ROLE_SESSION_NAME");
    if (session.empty()) session = "trainyard";
    std::string url = variable(context, "AWS_ENDPOINT_URL_STS");
    const std::string& region = context.settings.region;
    if (url.empty()) {
        url = fmt::format("https://sts.{}.amazonaws.com{}/", region,
                          region.starts_with("cn-") ? ".cn" : "");
    }
    const std::string body = fmt::format(
        "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn={}&RoleSessionName={}"
        "&WebIdentityToken={}",
        uri_encode(role, Slash::encode), uri_encode(session, Slash::encode),
        uri_encode(trim(*token), Slash::encode));
    sys::HttpRequest r = local_request(context, "POST", url, 20s);
    r.use_proxy = true;
    r.connect_timeout = 5s;
    r.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                 {"Accept", "application/json"}};
    r.body = body;
    const std::string fix = "check the role's trust policy and the token file " + file;
    const auto answer = context.http.perform(r);
    if (!answer) {
        return provider_error("STS cannot be reached for the web identity", answer.error().what,
                              {});
    }
    const Result<doc::Node> root = doc::parse_json(answer->body, "STS");
    const doc::Node* node = root ? &*root : nullptr;
    for (const char* key :
         {"AssumeRoleWithWebIdentityResponse", "AssumeRoleWithWebIdentityResult", "Credentials"}) {
        node = node != nullptr ? node->find(key) : nullptr;
    }
    std::optional<Credentials> credentials = node != nullptr ? credentials_in(*node) : std::nullopt;
    if (answer->status != 200 || !credentials) {
        return provider_error(
            fmt::format("STS refuses the web identity of {}", printable(role, 200)),
            fmt::format("HTTP {}", answer->status), fix);
    }
    return credentials;
}

Provided from_profile(const ProviderContext& context) {
    const Profile profile = read_profile(context.settings);
    const auto get = [&profile](const char* key) {
        const auto found = profile.find(key);
        return found == profile.end() ? std::string() : found->second;
    };
    const std::string name = profile_name(context.settings);
    // A role that is assumed from keys in the same profile: the keys alone are not meant.
    const bool needs_cli = !get("role_arn").empty() || !get("sso_session").empty() ||
                           !get("sso_start_url").empty() || !get("credential_process").empty() ||
                           !get("login_session").empty();
    Credentials c{
        get("aws_access_key_id"), get("aws_secret_access_key"), get("aws_session_token"), {}};
    const bool has_keys = !c.access_key.empty() && !c.secret_key.empty();
    if (has_keys && get("role_arn").empty()) return std::optional(std::move(c));
    if (needs_cli) return from_cli(name);
    if (!context.settings.profile.empty() || name != "default") {
        return provider_error(
            fmt::format("there are no credentials in the profile \"{}\"", printable(name, 100)),
            "it is looked for in ~/.aws/credentials and ~/.aws/config",
            "aws configure list-profiles shows the names");
    }
    return std::optional<Credentials>();
}

Provided from_container(const ProviderContext& context) {
    const std::string relative = variable(context, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    std::string url = variable(context, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if (!relative.empty()) url = "http://169.254.170.2" + relative;
    if (url.empty()) return std::optional<Credentials>();
    if (!is_safe_container_url(url)) {
        return provider_error("AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor this host",
                              "keys must not cross a network in plain text", {});
    }
    sys::HttpRequest r = local_request(context, "GET", url, 5s);
    std::string token = variable(context, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (const std::string file = variable(context, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        !file.empty()) {
        const Result<std::string> text = sys::read_file(file, std::size_t{1} << 16U);
        if (!text) return text.error();
        token = trim(*text);
    }
    if (token.find_first_of("\r\n") != std::string::npos) {
        return provider_error("the container's authorization token has a line break in it", {}, {});
    }
    if (!token.empty()) r.headers.push_back({"Authorization", token});
    const auto answer = context.http.perform(r);
    std::optional<Credentials> credentials;
    if (answer && answer->status == 200) credentials = parse_credentials(answer->body);
    if (!credentials) {
        return provider_error("the container's credential endpoint gives no credentials",
                              answer ? fmt::format("HTTP {}", answer->status) : answer.error().what,
                              "check the task role, or the pod identity association");
    }
    return credentials;
}

Provided from_instance(const ProviderContext& context) {
    if (to_lower(variable(context, "AWS_EC2_METADATA_DISABLED")) == "true") {
        return std::optional<Credentials>();
    }
    std::string base = variable(context, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (base.empty()) base = "http://169.254.169.254";
    while (base.ends_with('/')) base.pop_back();
    sys::HttpRequest r = local_request(context, "PUT", base + "/latest/api/token", 1s);
    r.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
    const auto token = context.http.perform(r);
    if (!token) {
        // The answer's hop limit (1 by default) drops it in front of a container: connected,
        // silent.
        if (token.error().fault != sys::HttpFault::timed_out) return std::optional<Credentials>();
        return provider_error(
            "the instance metadata service gave no token within a second",
            "not on EC2, or a container behind a hop limit of 1",
            "aws ec2 modify-instance-metadata-options --http-put-response-hop-limit 2 "
            "--instance-id ID, or set AWS_EC2_METADATA_DISABLED=true");
    }
    if (token->status != 200 || token->body.find_first_of("\r\n") != std::string::npos) {
        return provider_error("the instance metadata service gives no token",
                              fmt::format("HTTP {}", token->status),
                              "aws ec2 modify-instance-metadata-options --http-endpoint enabled");
    }
    const std::string path = base + "/latest/meta-data/iam/security-credentials/";
    const auto get = [&](const std::string& url) {
        sys::HttpRequest g = local_request(context, "GET", url, 2s);
        g.headers = {{"X-aws-ec2-metadata-token", token->body}};
        return context.http.perform(g);
    };
    const auto roles = get(path);
    if (roles && roles->status == 404) return std::optional<Credentials>();  // no instance profile
    std::optional<Credentials> credentials;
    if (roles && roles->status == 200) {
        const std::string role(trim(roles->body.substr(0, roles->body.find('\n'))));
        const auto answer = get(path + uri_encode(role, Slash::encode));
        if (answer && answer->status == 200) credentials = parse_credentials(answer->body);
    }
    if (!credentials) {
        return provider_error("the instance metadata service gives no credentials", {},
                              "check the instance profile's role");
    }
    return credentials;
}

}  // namespace trainyard::aws
