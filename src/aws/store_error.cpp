#include "trainyard/aws/object_store.hpp"

namespace trainyard::aws {

std::string_view name(StoreFault fault) {
    switch (fault) {
        case StoreFault::not_found:
            return "not found";
        case StoreFault::no_such_bucket:
            return "no such bucket";
        case StoreFault::no_such_upload:
            return "no such upload";
        case StoreFault::precondition_failed:
            return "precondition failed";
        case StoreFault::throttled:
            return "throttled";
        case StoreFault::credentials:
            return "credentials";
        case StoreFault::access_denied:
            return "access denied";
        case StoreFault::clock:
            return "clock";
        case StoreFault::checksum:
            return "checksum";
        case StoreFault::transport:
            return "transport";
        case StoreFault::timed_out:
            return "timed out";
        case StoreFault::stopped:
            return "stopped";
        case StoreFault::full:
            return "full";
        case StoreFault::server:
            return "server error";
        case StoreFault::invalid:
            return "invalid request";
    }
    return "";
}

Error to_error(const StoreError& error) {
    std::string why(name(error.fault));
    if (error.http_status != 0) why += ": HTTP " + std::to_string(error.http_status);
    if (!error.code.empty()) why += " " + error.code;
    if (error.attempts > 1) why += ", " + std::to_string(error.attempts) + " attempts";
    if (!error.request_id.empty()) why += ", request id " + error.request_id;
    return {ErrorKind::world,
            {{.where = {}, .what = error.what, .why = std::move(why), .fix = error.fix}}};
}

}  // namespace trainyard::aws
