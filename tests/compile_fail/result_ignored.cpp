#include "trainyard/base/result.hpp"

using namespace trainyard;

Result<int> answer();

#ifdef GOOD
int use() { return answer().value_or(0); }
#else
void use() { answer(); }
#endif
