#pragma once
// What an answer of S3, or the lack of one, means for the request: done, again, or the fault.

#include <string_view>

#include "trainyard/aws/object_store.hpp"
#include "trainyard/sys/http.hpp"

namespace trainyard::aws {

enum class Step {
    again,        ///< after a backoff
    again_slow,   ///< after a longer one, with fewer requests at a time
    redirect,     ///< the bucket is elsewhere
    clock,        ///< correct the clock by the Date header
    credentials,  ///< fetch other credentials
    fail,
};

struct Judgement {
    Step step = Step::fail;
    StoreFault fault = StoreFault::server;  ///< if it ends here
};

/// `status` not 2xx, or the error inside a 200. `code` is S3's word; "" if the answer has no body
/// (HEAD, a proxy).
Judgement judge_answer(int status, std::string_view code);
Judgement judge_transport(sys::HttpFault fault);

}  // namespace trainyard::aws
