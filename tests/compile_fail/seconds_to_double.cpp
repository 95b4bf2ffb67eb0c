#include "trainyard/base/units.hpp"

using namespace trainyard;

#ifdef GOOD
const double t = 3 * kSecond / kMillisecond;
#else
const double t = 3 * kSecond;
#endif
