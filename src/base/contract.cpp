#include "trainyard/base/contract.hpp"

#include <cstdio>
#include <cstdlib>

namespace trainyard {

void contract_failed(const char* condition, const char* why, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: broken contract: %s (%s)\n", file, line, condition, why);
    std::abort();
}

}  // namespace trainyard
