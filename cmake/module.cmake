# trainyard_module(<name>
#     SOURCES a.cpp b.cpp          # library trainyard_<name>
#     TESTS a_test.cpp b_test.cpp  # test binary <name>_test
#     DEPENDS base doc             # modules, defined earlier
#     LIBRARIES yaml-cpp           # third party, private
#     COMPUTES)                    # too slow without any optimisation under the sanitizers: -O1 there
#
# The walls:
# - Public headers are include/trainyard/<name>/*.hpp and only the modules named in DEPENDS (and theirs) are on the
#   include path, so an undeclared include fails with "No such file".
# - The test binary links this module alone, whole: an undeclared symbol is an undefined reference.
# - A dependency must be defined earlier, so the order in the root CMakeLists.txt is the order of layers and a cycle
#   cannot be written.
# - Every public header is compiled alone (target all_verify_interface_header_sets).
include(GoogleTest)

function(trainyard_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COMPUTES" "" "SOURCES;TESTS;DEPENDS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "module ${name}: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(dependency IN LISTS arg_DEPENDS)
    if(NOT TARGET trainyard_${dependency})
      message(FATAL_ERROR "module ${name} depends on ${dependency}, which is not defined earlier")
    endif()
    list(APPEND dependencies trainyard_${dependency})
  endforeach()

  set(target trainyard_${name})
  file(GLOB headers CONFIGURE_DEPENDS include/trainyard/${name}/*.hpp)
  add_library(${target} STATIC ${arg_SOURCES})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${headers})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target}
    PUBLIC ${dependencies} tl::expected
    PRIVATE trainyard_warnings fmt::fmt Threads::Threads ${arg_LIBRARIES})

  if(TRAINYARD_SANITIZE AND arg_COMPUTES)
    target_compile_options(${target} PRIVATE -O1)
  endif()

  if(TRAINYARD_UNIT_TESTS AND arg_TESTS)
    add_executable(${name}_test ${arg_TESTS})
    target_include_directories(${name}_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${name}_test PRIVATE
      "$<LINK_LIBRARY:WHOLE_ARCHIVE,${target}>" trainyard_warnings fmt::fmt GTest::gtest GTest::gtest_main)
    gtest_discover_tests(${name}_test
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST
      PROPERTIES TIMEOUT 1200)
  endif()
endfunction()
