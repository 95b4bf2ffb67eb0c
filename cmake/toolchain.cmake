# Compiler launcher, linker and sanitizers.

find_program(TRAINYARD_CCACHE ccache)
if(TRAINYARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TRAINYARD_CCACHE}")
endif()

# mold links a test binary in a tenth of the time of ld.
find_program(TRAINYARD_MOLD mold)
if(TRAINYARD_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(TRAINYARD_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(TRAINYARD_SANITIZE)
  # -O0 compiles three times as fast as -O1 here; modules that compute ask for -O1 (COMPUTES, module.cmake).
  add_compile_options(-O0 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports std::optional and tl::expected members falsely once they are instrumented.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
