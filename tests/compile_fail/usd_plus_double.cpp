#include "trainyard/base/units.hpp"

using namespace trainyard;

#ifdef GOOD
const Usd total = 1 * kUsd + 2.5 * kUsd;
#else
const Usd total = 1 * kUsd + 2.5;
#endif
