#include "trainyard/base/units.hpp"

using namespace trainyard;

#ifdef GOOD
const auto total = 1 * kByte + 2 * kByte;
#else
const auto total = 1 * kByte + 2 * kSecond;
#endif
