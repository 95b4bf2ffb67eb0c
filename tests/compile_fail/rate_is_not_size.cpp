#include "trainyard/base/units.hpp"

using namespace trainyard;

#ifdef GOOD
const Bytes size = kGBPerSecond * kSecond;
#else
const Bytes size = kGBPerSecond;
#endif
