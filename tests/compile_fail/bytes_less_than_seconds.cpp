#include "trainyard/base/units.hpp"

using namespace trainyard;

#ifdef GOOD
const bool less = kByte < kGiB;
#else
const bool less = kByte < kSecond;
#endif
