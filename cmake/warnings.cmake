# One interface target that carries the warnings; linked privately, so users of a header are not judged by ours.

add_library(trainyard_warnings INTERFACE)
target_compile_options(trainyard_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # GCC 12 reports std::string::insert and operator+ falsely once they are inlined (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang with C++20 dislikes what GCC 12's own std::stable_sort calls.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
