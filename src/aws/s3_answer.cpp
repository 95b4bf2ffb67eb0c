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
    CodeRule{"SlowDown", {Step::again_slow, StoreFault::throttled}},
    CodeRule{"Throttling", {Step::again_slow, StoreFault::throttled}},
    CodeRule{"ThrottlingException", {Step::again_slow, StoreFault::throttled}},
    CodeRule{"TooManyRequests", {Step::again_slow, StoreFault::throttled}},
    CodeRule{"ServiceUnavailable", {Step::again_slow, StoreFault::throttled}},
    CodeRule{"RequestLimitExceeded", {Step::again_slow, StoreFault::throttled}},
    CodeRule{"BandwidthLimitExceeded", {Step::again_slow, StoreFault::throttled}},
    CodeRule{"InternalError", {Step::again, StoreFault::server}},
    CodeRule{"RequestTimeout", {Step::again, StoreFault::timed_out}},
    CodeRule{"OperationAborted", {Step::again, StoreFault::server}},
    CodeRule{"ConditionalRequestConflict", {Step::again, StoreFault::precondition_failed}},
    CodeRule{"IncompleteBody", {Step::again, StoreFault::transport}},
    CodeRule{"BadDigest", {Step::again, StoreFault::checksum}},
    CodeRule{"XAmzContentSHA256Mismatch", {Step::again, StoreFault::checksum}},
    CodeRule{"XAmzContentChecksumMismatch", {Step::again, StoreFault::checksum}},
    CodeRule{"PermanentRedirect", {Step::redirect, StoreFault::invalid}},
    CodeRule{"TemporaryRedirect", {Step::redirect, StoreFault::invalid}},
    CodeRule{"Redirect", {Step::redirect, StoreFault::invalid}},
    CodeRule{"AuthorizationHeaderMalformed", {Step::redirect, StoreFault::invalid}},
    CodeRule{"RequestTimeTooSkewed", {Step::clock, StoreFault::clock}},
    CodeRule{"RequestExpired", {Step::clock, StoreFault::clock}},
    CodeRule{"ExpiredToken", {Step::credentials, StoreFault::credentials}},
    CodeRule{"ExpiredTokenException", {Step::credentials, StoreFault::credentials}},
    CodeRule{"TokenRefreshRequired", {Step::credentials, StoreFault::credentials}},
    CodeRule{"InvalidToken", {Step::credentials, StoreFault::credentials}},
    CodeRule{"InvalidAccessKeyId", {Step::credentials, StoreFault::credentials}},
    CodeRule{"SignatureDoesNotMatch", {Step::credentials, StoreFault::credentials}},
    CodeRule{"AccessDenied", {Step::fail, StoreFault::access_denied}},
    CodeRule{"NoSuchKey", {Step::fail, StoreFault::not_found}},
    CodeRule{"NoSuchBucket", {Step::fail, StoreFault::no_such_bucket}},
    CodeRule{"NoSuchUpload", {Step::fail, StoreFault::no_such_upload}},
    CodeRule{"PreconditionFailed", {Step::fail, StoreFault::precondition_failed}},
    CodeRule{"QuotaExceeded", {Step::fail, StoreFault::full}},
    CodeRule{"InsufficientStorage", {Step::fail, StoreFault::full}},
    CodeRule{"InvalidRange", {Step::fail, StoreFault::checksum}},
};

Judgement judge_status(int status) {
    switch (status) {
        case 301:
        case 302:
        case 307:
        case 308:
            return {Step::redirect, StoreFault::invalid};
        case 401:
        case 403:
            return {Step::fail, StoreFault::access_denied};
        case 404:
            return {Step::fail, StoreFault::not_found};
        case 408:
            return {Step::again, StoreFault::timed_out};
        case 409:
            return {Step::again, StoreFault::server};
        case 412:
            return {Step::fail, StoreFault::precondition_failed};
        case 416:
            return {Step::fail, StoreFault::checksum};
        case 429:
        case 503:
            return {Step::again_slow, StoreFault::throttled};
        case 507:
            return {Step::fail, StoreFault::full};
        case 501:
            return {Step::fail, StoreFault::invalid};
        default:
            break;
    }
    if (status >= 500) return {Step::again, StoreFault::server};
    if (status / 100 == 2) return {Step::again, StoreFault::transport};  // not S3's document
    return {Step::fail, StoreFault::invalid};
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
        case sys::HttpFault::tls:
        case sys::HttpFault::broken:
            return {Step::again, StoreFault::transport};
        case sys::HttpFault::timed_out:
            return {Step::again, StoreFault::timed_out};
        case sys::HttpFault::too_large:
            return {Step::again, StoreFault::checksum};
        case sys::HttpFault::stopped:
            return {Step::fail, StoreFault::stopped};
        case sys::HttpFault::refused:
            return {Step::fail, StoreFault::invalid};
    }
    return {};
}

}  // namespace trainyard::aws
