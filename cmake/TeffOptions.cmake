# How all of Teff is compiled, and where it is built to.
option(TEFF_WERROR "Treat warnings as errors" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # one core library serves programs and the shared C library

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# Designated initialisers leave members to their defaults on purpose.
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict) # false alarms on std::string (GCC bug 105651, still there in GCC 14)
  if(TEFF_SANITIZE)
    # Likewise, at -O1; the release build looks for them.
    add_compile_options(-Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
  endif()
endif()
# A compiler newer than any that we have met may warn of what nobody knew of: no reason not to measure with it.
set(TEFF_NEWEST_GNU 14)
set(TEFF_NEWEST_Clang 20)
if(TEFF_WERROR AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS_EQUAL "${TEFF_NEWEST_${CMAKE_CXX_COMPILER_ID}}.99")
  add_compile_options(-Werror)
endif()
if(NOT DEFINED CMAKE_UNITY_BUILD) # twelve files are compiled as one, since half of what each takes is headers
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-Winvalid-feature-combination TEFF_WARNS_OF_FEATURES)
  if(TEFF_WARNS_OF_FEATURES) # which clang 19 finds itself, for -march=native on some processors
    add_compile_options(-Wno-invalid-feature-combination)
  endif()
endif()
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>) # takes the files of a unit for headers
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=600000>) # collects its garbage less often
if(TEFF_SANITIZE) # its reports need no more than line tables
  set(optimize -O1)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang") # the tests run for a minute: to optimise them takes longer than it saves
    set(optimize -O0)
    if(TEFF_SANITIZE MATCHES "address") # frames on the heap take more memory than the tests allow for; GCC has none
      add_compile_options(-fsanitize-address-use-after-return=never)
    endif()
  elseif(TEFF_SANITIZE MATCHES "undefined")
    set(optimize -Og) # its checks are so many that -O1 takes half as long again to compile them
    add_compile_options(-Wno-maybe-uninitialized) # false alarms among the checks, as in std::stop_source
  endif()
  add_compile_options(-fsanitize=${TEFF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer ${optimize} -g1)
  add_link_options(-fsanitize=${TEFF_SANITIZE})
endif()

if(TEFF_CLANG) # it reads everything for its warnings; nothing runs, so what ninja asks for is but a mark that it was read
  foreach(language IN ITEMS C CXX)
    set(CMAKE_${language}_COMPILE_OBJECT
        "<CMAKE_${language}_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only <SOURCE>" "${CMAKE_COMMAND} -E touch <OBJECT>")
    foreach(product IN ITEMS CREATE_STATIC_LIBRARY CREATE_SHARED_LIBRARY CREATE_SHARED_MODULE LINK_EXECUTABLE)
      set(CMAKE_${language}_${product} "${CMAKE_COMMAND} -E touch <TARGET>")
    endforeach()
  endforeach()
  set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
endif()

find_package(Threads REQUIRED)

# teff_compile_fast(TARGET): of tests, which run for seconds, and which no profiler looks at. At -Og GCC compiles a test of task graphs
# in half the time that it takes at -O1.
function(teff_compile_fast target)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    # At -Og GCC gives false alarms, as above.
    target_compile_options(${target} PRIVATE -g0 $<IF:$<CXX_COMPILER_ID:GNU>,-Og;-Wno-maybe-uninitialized,-O0>)
  endif()
endfunction()

# teff_share_headers(TARGET): of tests of the bench. Under a sanitizer, headers that most of them include are compiled once.
function(teff_share_headers target)
  if(TEFF_SANITIZE AND target STREQUAL "driver_tests") # the first one
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <fmt/format.h> <nlohmann/json.hpp>)
  elseif(TEFF_SANITIZE)
    target_precompile_headers(${target} REUSE_FROM driver_tests)
  endif()
endfunction()

# teff_discover_tests(TARGET [SHARDS number] [TEST_FILTER filter] [argument...])
#
# gtest_discover_tests, to which the arguments go. Under a sanitizer a process takes a tenth of a second to start: there the tests
# run in that many processes (1 unless given), each of which has its share of the tests and is one test of ctest. A test that expects
# an exit starts the process anew: the one that it would fork has the threads of earlier tests.
function(teff_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 tests "" "SHARDS;TEST_FILTER" "")
  if(NOT TEFF_SANITIZE)
    gtest_discover_tests(${target} TEST_FILTER "${tests_TEST_FILTER}" ${tests_UNPARSED_ARGUMENTS})
    return()
  endif()
  if(NOT tests_SHARDS)
    set(tests_SHARDS 1)
  endif()
  if(NOT tests_TEST_FILTER)
    set(tests_TEST_FILTER "*")
  endif()
  set(of_each "GTEST_FILTER=${tests_TEST_FILTER};GTEST_DEATH_TEST_STYLE=threadsafe")
  foreach(shard RANGE 1 ${tests_SHARDS})
    math(EXPR index "${shard} - 1")
    set(name "${target}.${shard}_of_${tests_SHARDS}")
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES COST ${tests_SHARDS} # those of the longest begin first
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${tests_SHARDS};GTEST_SHARD_INDEX=${index};${of_each}")
  endforeach()
endfunction()

# teff_add_unit_tests(NAME [SOURCES file...] [ONE_THREAD file...] LIBRARIES library...)
#
# Tests by GoogleTest of a folder beside src. In the files of ONE_THREAD a single thread does everything: the thread sanitizer
# can say nothing of them, and its build leaves them out.
function(teff_add_unit_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 tests "" "" "SOURCES;ONE_THREAD;LIBRARIES")
  if(NOT TEFF_SANITIZE STREQUAL "thread")
    list(APPEND tests_SOURCES ${tests_ONE_THREAD})
  endif()
  if(NOT tests_SOURCES)
    return()
  endif()
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${tests_SOURCES})
  target_include_directories(${name} PRIVATE ../src)
  target_link_libraries(${name} PRIVATE ${tests_LIBRARIES} GTest::gtest_main)
  teff_compile_fast(${name})
  teff_share_headers(${name})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL "${TEFF_LEFT_TO_SANITIZERS}")
  teff_discover_tests(${name} PROPERTIES DISCOVERY_TIMEOUT 60)
endfunction()
