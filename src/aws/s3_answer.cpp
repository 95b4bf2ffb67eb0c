#include "s3_answer.hpp"

#include <array>

namespace trainyard::aws {
namespace {

struct CodeRule {
    std::string_view code;
    Judgement judgement;
};

// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
constexpr std::array kCodes = {
    CodeRule{"SlowDown", {Step::again_slow, StoreFault::throttled, false}},
    CodeRule{"Throttling", {Step::again_slow, StoreFault::throttled, false}},
    CodeRule{"ThrottlingException", {Step::again_slow, StoreFault::throttled, false}},
    CodeRule{"TooManyRequests", {Step::again_slow, StoreFault::throttled, false}},
    CodeRule{"ServiceUnavailable", {Step::again_slow, StoreFault::throttled, false}},
    CodeRule{"RequestLimitExceeded", {Step::again_slow, StoreFault::throttled, false}},
    CodeRule{"BandwidthLimitExceeded", {Step::again_slow, StoreFault::throttled, false}},
    CodeRule{"InternalError", {Step::again, StoreFault::server, true}},
    CodeRule{"RequestTimeout", {Step::again, StoreFault::timed_out, false}},
    CodeRule{"OperationAborted", {Step::again, StoreFault::server, false}},
    CodeRule{"ConditionalRequestConflict", {Step::again, StoreFault::precondition_failed, false}},
    CodeRule{"IncompleteBody", {Step::again, StoreFault::transport, false}},
    CodeRule{"BadDigest", {Step::again, StoreFault::checksum, false}},
    CodeRule{"XAmzContentSHA256Mismatch", {Step::again, StoreFault::checksum, false}},
    CodeRule{"XAmzContentChecksumMismatch", {Step::again, StoreFault::checksum, false}},
    CodeRule{"PermanentRedirect", {Step::redirect, StoreFault::invalid, false}},
    CodeRule{"TemporaryRedirect", {Step::redirect, StoreFault::invalid, false}},
    CodeRule{"Redirect", {Step::redirect, StoreFault::invalid, false}},
    CodeRule{"AuthorizationHeaderMalformed", {Step::redirect, StoreFault::invalid, false}},
    CodeRule{"RequestTimeTooSkewed", {Step::clock, StoreFault::clock, false}},
    CodeRule{"RequestExpired", {Step::clock, StoreFault::clock, false}},
    CodeRule{"ExpiredToken", {Step::credentials, StoreFault::credentials, false}},
    CodeRule{"ExpiredTokenException", {Step::credentials, StoreFault::credentials, false}},
    CodeRule{"TokenRefreshRequired", {Step::credentials, StoreFault::credentials, false}},
    CodeRule{"InvalidToken", {Step::credentials, StoreFault::credentials, false}},
    CodeRule{"InvalidAccessKeyId", {Step::credentials, StoreFault::credentials, false}},
    CodeRule{"SignatureDoesNotMatch", {Step::credentials, StoreFault::credentials, false}},
    CodeRule{"AccessDenied", {Step::fail, StoreFault::access_denied, false}},
    CodeRule{"NoSuchKey", {Step::fail, StoreFault::not_found, false}},
    CodeRule{"NoSuchBucket", {Step::fail, StoreFault::no_such_bucket, false}},
    CodeRule{"NoSuchUpload", {Step::fail, StoreFault::no_such_upload, false}},
    CodeRule{"PreconditionFailed", {Step::fail, StoreFault::precondition_failed, false}},
    CodeRule{"QuotaExceeded", {Step::fail, StoreFault::full, false}},
    CodeRule{"InsufficientStorage", {Step::fail, StoreFault::full, false}},
    CodeRule{"InvalidRange", {Step::fail, StoreFault::checksum, false}},
};

Judgement judge_status(int status) {
    switch (status) {
        case 301:
        case 302:
        case 307:
        case 308:
            return {Step::redirect, StoreFault::invalid, false};
        case 401:
        case 403:
            return {Step::fail, StoreFault::access_denied, false};
        case 404:
            return {Step::fail, StoreFault::not_found, false};
        case 408:
            return {Step::again, StoreFault::timed_out, false};
        case 409:
            return {Step::again, StoreFault::server, false};
        case 412:
            return {Step::fail, StoreFault::precondition_failed, false};
        case 416:
            return {Step::fail, StoreFault::checksum, false};
        case 429:
        case 503:
            return {Step::again_slow, StoreFault::throttled, false};
        case 507:
            return {Step::fail, StoreFault::full, false};
        case 501:
            return {Step::fail, StoreFault::invalid, false};
        default:
            break;
    }
    if (status >= 500) return {Step::again, StoreFault::server, true};
    if (status / 100 == 2) return {Step::again, StoreFault::transport, true};  // not S3's document
    return {Step::fail, StoreFault::invalid, false};
}

}  // namespace

Judgement judge_answer(int status, std::string_view code) {
    for (const CodeRule& rule : kCodes) {
        if (rule.code == code) return rule.judgement;
    }
    return judge_status(status);
}

Judgement judge_transport(sys::HttpFault fault) {
    switch (fault) {
        case sys::HttpFault::resolve:
        case sys::HttpFault::connect:
            return {Step::again, StoreFault::transport, false};
        case sys::HttpFault::tls:
            return {Step::again, StoreFault::transport, false};
        case sys::HttpFault::broken:
            return {Step::again, StoreFault::transport, true};
        case sys::HttpFault::timed_out:
            return {Step::again, StoreFault::timed_out, true};
        case sys::HttpFault::too_large:
            return {Step::again, StoreFault::checksum, true};
        case sys::HttpFault::stopped:
            return {Step::fail, StoreFault::stopped, true};
        case sys::HttpFault::refused:
            return {Step::fail, StoreFault::invalid, false};
    }
    return {};
}

}  // namespace trainyard::aws
