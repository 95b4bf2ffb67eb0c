#include "trainyard/base/units.hpp"

using namespace trainyard;

#ifdef GOOD
const Bytes size = 80.0 * kGiB;
#else
const Bytes size = 80.0;
#endif
