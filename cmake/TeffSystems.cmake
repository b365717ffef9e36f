# The functions for the CMakeLists.txt of a kind of benchmark or of an adapter. Both are found by their folders: none is named
# here.
set(TEFF_LEFT_OUT "" CACHE STRING "Folders of bench/systems to leave out, because their CMakeLists.txt fails")

# The environment of the lab, where a system's packages from PyPI lie (their include/ and lib/).
set(TEFF_VENV "${PROJECT_SOURCE_DIR}/.teff/venv")

# The one system that a build is of, in a version that CMAKE_PREFIX_PATH or other variables find (.teff/versions).
set(TEFF_VERSION_OF "" CACHE STRING "Folder of bench/systems; empty: all of them")

# The lab builds a program by its name. The target lab_SYSTEM has all programs of a folder of bench/systems, and lab_kind_KIND
# has the targets that the commands of a kind need besides them. Tests are no part of these.

# teff_lab_needs(TARGET...): the commands of the kind whose CMakeLists.txt calls it need these targets, whatever the systems.
# No test of a build with a sanitizer runs them.
function(teff_lab_needs)
  get_filename_component(kind "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  add_custom_target(lab_kind_${kind})
  add_dependencies(lab_kind_${kind} ${ARGN})
  if(TEFF_SANITIZE)
    set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# Adds the folder of every kind of benchmark.
function(teff_add_kinds)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*/CMakeLists.txt")
  list(REMOVE_ITEM files "${PROJECT_SOURCE_DIR}/bench/driver/CMakeLists.txt")
  foreach(file IN LISTS files)
    get_filename_component(folder "${file}" DIRECTORY)
    add_subdirectory("${folder}")
    teff_leave_libraries_to_sanitizers("${folder}")
  endforeach()
endfunction()

# The libraries of a kind's folder, which its tests link.
function(teff_leave_libraries_to_sanitizers folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(is_left_out ${target} EXCLUDE_FROM_ALL)
    if(type MATCHES "^(STATIC|SHARED)_LIBRARY$" AND NOT is_left_out)
      teff_leave_to_sanitizers(${target})
    endif()
  endforeach()
endfunction()

# Warnings that a newer release may bring to an adapter, no reason not to measure it. The release deprecates functions that the
# adapter calls, or has code in which GCC, after inlining, sees faults that are not there.
function(teff_allow_newer_releases)
  add_compile_options(-Wno-error=deprecated-declarations)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    foreach(warning IN ITEMS array-bounds stringop-overflow stringop-overread maybe-uninitialized free-nonheap-object nonnull)
      add_compile_options(-Wno-error=${warning})
    endforeach()
  endif()
endfunction()

# Adds every system's folder that has a CMakeLists.txt. TEFF_INSTALLED is where `teff systems add` puts what this system alone
# needs; CMake finds what pip put there, unless a version is asked for.
function(teff_add_systems)
  file(REMOVE_RECURSE "${PROJECT_BINARY_DIR}/skipped")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/skipped")
  set(prefixes ${CMAKE_PREFIX_PATH})
  teff_allow_newer_releases()
  file(GLOB folders CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/systems/*/CMakeLists.txt")
  foreach(file IN LISTS folders)
    get_filename_component(folder "${file}" DIRECTORY)
    get_filename_component(name "${folder}" NAME)
    add_custom_target(lab_${name})
    if(name IN_LIST TEFF_LEFT_OUT OR (TEFF_VERSION_OF AND NOT name STREQUAL TEFF_VERSION_OF))
      continue()
    endif()
    set(TEFF_INSTALLED "${PROJECT_SOURCE_DIR}/.teff/systems/${name}")
    if(NOT TEFF_VERSION_OF)
      set(CMAKE_PREFIX_PATH "${TEFF_INSTALLED}/venv" ${prefixes})
    endif()
    add_subdirectory("${folder}")
  endforeach()
endfunction()

# teff_skip_system(REASON): leaves out the system whose CMakeLists.txt calls it, from there on. The reason is
# kept for `teff systems`. A macro, so that it can return from the file that calls it.
macro(teff_skip_system reason)
  get_filename_component(teff_skipped "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  message(STATUS "${teff_skipped} is left out: ${reason}")
  file(WRITE "${PROJECT_BINARY_DIR}/skipped/${teff_skipped}" "${reason}\n")
  return()
endmacro()

# teff_skip_program(NAME REASON): says of one program of several why it is not there; the others are built.
function(teff_skip_program name reason)
  message(STATUS "${name} is left out: ${reason}")
  file(WRITE "${PROJECT_BINARY_DIR}/skipped/${name}" "${reason}\n")
endfunction()

# teff_add_system_program(NAME SOURCES... [LIBRARIES library...] [OPTIONS option...])
#
# A program of an adapter for task graphs.
function(teff_add_system_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;LIBRARIES;OPTIONS")
  teff_add_program(${name} SOURCES ${program_SOURCES} ${program_UNPARSED_ARGUMENTS}
                   LIBRARIES teff::task_graph ${program_LIBRARIES} OPTIONS ${program_OPTIONS})
endfunction()

# teff_link_no_gpu(TARGET)
#
# A program that links TARGET needs no GPU driver's library to start. TARGET is an interface library of the system whose
# CMakeLists.txt calls it.
function(teff_link_no_gpu target)
  enable_language(C)
  add_library(${target}_no_gpu SHARED EXCLUDE_FROM_ALL "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/no_gpu.c")
  set_target_properties(${target}_no_gpu PROPERTIES OUTPUT_NAME cuda SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  target_link_libraries(${target} INTERFACE -Wl,--push-state,--no-as-needed ${target}_no_gpu -Wl,--pop-state)
endfunction()

# Of a target of the system whose CMakeLists.txt calls it: the lab runs it.
function(teff_lab_runs target)
  get_filename_component(system "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  add_dependencies(lab_${system} ${target})
endfunction()

# teff_add_foreign_program(NAME DEPENDS what...)
#
# A program that CMake does not compile: a file of CMAKE_RUNTIME_OUTPUT_DIRECTORY that a command of the system's makes,
# with what else it needs. As with other programs, builds with a sanitizer make it only when it is asked for by name. clang++,
# which links nothing, reads only the targets that it needs.
function(teff_add_foreign_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "DEPENDS")
  set(all ALL)
  if(TEFF_SANITIZE)
    set(all "")
  elseif(TEFF_CLANG)
    list(FILTER program_DEPENDS EXCLUDE REGEX "/")
  endif()
  add_custom_target(${name} ${all} DEPENDS ${program_DEPENDS})
  teff_lab_runs(${name})
endfunction()

# teff_add_script_program(NAME DEPENDS what...)
#
# As teff_add_foreign_program, of a script: start.in of the system's folder, in which @VARIABLE@ stands for what is in VARIABLE.
function(teff_add_script_program name)
  configure_file(start.in "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}" @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  teff_add_foreign_program(${name} ${ARGN})
endfunction()

# teff_add_tasks_benchmark(KIND MAIN [LIBRARIES library...])
#
# A kind of benchmark that runs on every system with tasks. MAIN is compiled for each of them, and includes TEFF_TASKS, the
# system's header with its class task_system. For the CMakeLists.txt of the kind's folder.
function(teff_add_tasks_benchmark kind main)
  cmake_parse_arguments(PARSE_ARGV 2 benchmark "" "" "LIBRARIES")
  teff_expect_known_everywhere("${benchmark_LIBRARIES}")
  get_filename_component(main "${main}" ABSOLUTE)
  set_property(GLOBAL APPEND PROPERTY TEFF_TASKS_BENCHMARKS ${kind})
  set_property(GLOBAL PROPERTY TEFF_TASKS_MAIN_${kind} "${main}")
  set_property(GLOBAL PROPERTY TEFF_TASKS_LIBRARIES_${kind} "${benchmark_LIBRARIES}")
endfunction()

# Says in the kind's folder what CMake would say of each system's: there a package that the kind's folder found is not known.
function(teff_expect_known_everywhere libraries)
  foreach(library IN LISTS libraries)
    if(NOT TARGET "${library}")
      continue()
    endif()
    get_target_property(is_imported "${library}" IMPORTED)
    get_target_property(is_global "${library}" IMPORTED_GLOBAL)
    if(is_imported AND NOT is_global)
      message(FATAL_ERROR "LIBRARIES ${library}: what find_package finds here is not known in the systems' folders. Link it to "
                          "a library of this folder (PUBLIC, or INTERFACE if that has headers only), and name that one.")
    endif()
  endforeach()
endfunction()

# teff_add_tasks(NAME HEADER [SOURCES source...] [LIBRARIES library...] [OPTIONS option...] [COMPILED_BY function])
#
# The tasks of a system, on which every kind runs that called teff_add_tasks_benchmark. A program is called NAME_KIND, or
# NAME with KIND in the place of {benchmark}. COMPILED_BY names a function that compiles the program's main file in
# another way than CMake does: function(SOURCE RESULT LIBRARIES OPTIONS...) sets RESULT to the object file.
function(teff_add_tasks name header)
  cmake_parse_arguments(PARSE_ARGV 2 tasks "" "COMPILED_BY" "SOURCES;LIBRARIES;OPTIONS")
  get_filename_component(header "${header}" ABSOLUTE)
  set(options ${tasks_OPTIONS} "-DTEFF_TASKS=\"${header}\"")
  get_property(kinds GLOBAL PROPERTY TEFF_TASKS_BENCHMARKS)
  foreach(kind IN LISTS kinds)
    get_property(main GLOBAL PROPERTY TEFF_TASKS_MAIN_${kind})
    get_property(libraries GLOBAL PROPERTY TEFF_TASKS_LIBRARIES_${kind})
    teff_tasks_program(program ${name} ${kind})
    if(tasks_COMPILED_BY)
      cmake_language(CALL ${tasks_COMPILED_BY} "${main}" main "${libraries}" ${options})
    endif()
    teff_add_program(${program} SOURCES "${main}" ${tasks_SOURCES}
                     LIBRARIES ${tasks_LIBRARIES} ${libraries} teff::driver OPTIONS ${options})
  endforeach()
endfunction()

# teff_skip_tasks(NAME REASON): as teff_skip_program, of all programs that teff_add_tasks(NAME ...) would add.
function(teff_skip_tasks name reason)
  get_property(kinds GLOBAL PROPERTY TEFF_TASKS_BENCHMARKS)
  foreach(kind IN LISTS kinds)
    teff_tasks_program(program ${name} ${kind})
    teff_skip_program(${program} "${reason}")
  endforeach()
endfunction()

# Sets <program> to the name of the program in which a kind runs on a system's tasks.
function(teff_tasks_program program name kind)
  if(NOT name MATCHES "{benchmark}")
    string(APPEND name "_{benchmark}")
  endif()
  string(REPLACE "{benchmark}" "${kind}" result "${name}")
  set(${program} "${result}" PARENT_SCOPE)
endfunction()

# teff_add_programs_benchmark(KIND ADAPTER MAIN TEST [LIBRARIES library...])
#
# A kind of benchmark that runs on every system that runs programs. ADAPTER is compiled for each of them, and includes
# TEFF_PROGRAMS, the system's header with its class program_system. With MAIN it is a program; with TEST, which uses GoogleTest,
# it is the tests of that system's programs. These two know no system: they are compiled once. For the CMakeLists.txt of the
# kind's folder.
function(teff_add_programs_benchmark kind adapter main test)
  cmake_parse_arguments(PARSE_ARGV 4 benchmark "" "" "LIBRARIES")
  teff_expect_known_everywhere("${benchmark_LIBRARIES}")
  find_package(GTest REQUIRED)
  get_filename_component(adapter "${adapter}" ABSOLUTE)
  add_library(bench_${kind}_main OBJECT EXCLUDE_FROM_ALL "${main}")
  target_link_libraries(bench_${kind}_main PRIVATE ${benchmark_LIBRARIES})
  add_library(bench_${kind}_system_test OBJECT EXCLUDE_FROM_ALL "${test}")
  target_link_libraries(bench_${kind}_system_test PRIVATE ${benchmark_LIBRARIES} GTest::gtest)
  teff_leave_to_sanitizers(bench_${kind}_system_test)
  set_property(GLOBAL APPEND PROPERTY TEFF_PROGRAMS_BENCHMARKS ${kind})
  set_property(GLOBAL PROPERTY TEFF_PROGRAMS_ADAPTER_${kind} "${adapter}")
  set_property(GLOBAL PROPERTY TEFF_PROGRAMS_LIBRARIES_${kind} "${benchmark_LIBRARIES}")
endfunction()

# teff_add_programs(NAME HEADER [LIBRARIES library...] [COMPILED_BY function] [INSTRUMENTED])
#
# How a system runs programs, for every kind that called teff_add_programs_benchmark. Names and COMPILED_BY are as in
# teff_add_tasks. INSTRUMENTED: all of the system is compiled here, so that its tests can run under sanitizers.
function(teff_add_programs name header)
  cmake_parse_arguments(PARSE_ARGV 2 programs "INSTRUMENTED" "COMPILED_BY" "LIBRARIES")
  get_filename_component(header "${header}" ABSOLUTE)
  get_property(kinds GLOBAL PROPERTY TEFF_PROGRAMS_BENCHMARKS)
  foreach(kind IN LISTS kinds)
    get_property(adapter GLOBAL PROPERTY TEFF_PROGRAMS_ADAPTER_${kind})
    get_property(of_kind GLOBAL PROPERTY TEFF_PROGRAMS_LIBRARIES_${kind})
    teff_tasks_program(program ${name} ${kind})
    set(option "-DTEFF_PROGRAMS=\"${header}\"")
    set(libraries ${programs_LIBRARIES} ${of_kind})
    if(programs_COMPILED_BY)
      cmake_language(CALL ${programs_COMPILED_BY} "${adapter}" object "${of_kind};teff::driver" ${option})
    else()
      add_library(${program}_adapter OBJECT "${adapter}")
      target_link_libraries(${program}_adapter PRIVATE ${libraries})
      target_compile_options(${program}_adapter PRIVATE ${option})
      set(object $<TARGET_OBJECTS:${program}_adapter>)
    endif()
    teff_add_program(${program} SOURCES $<TARGET_OBJECTS:bench_${kind}_main> ${object} LIBRARIES ${libraries})
    if(NOT TEFF_SANITIZE OR programs_INSTRUMENTED)
      teff_add_programs_tests(${program} ${kind} "${object}" "${libraries}")
    elseif(TARGET ${program}_adapter)
      set_target_properties(${program}_adapter PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endforeach()
endfunction()

# The tests of what teff_add_programs adds. ctest prefixes their names with that of the program.
function(teff_add_programs_tests program kind object libraries)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${program}_tests $<TARGET_OBJECTS:bench_${kind}_system_test> ${object})
  set_target_properties(${program}_tests PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${program}_tests PRIVATE ${libraries} GTest::gtest_main)
  teff_discover_tests(${program}_tests SHARDS 2 TEST_PREFIX "${program}." NO_PRETTY_VALUES)
endfunction()

# teff_skip_programs(NAME REASON): as teff_skip_program, of all programs that teff_add_programs(NAME ...) would add.
function(teff_skip_programs name reason)
  get_property(kinds GLOBAL PROPERTY TEFF_PROGRAMS_BENCHMARKS)
  foreach(kind IN LISTS kinds)
    teff_tasks_program(program ${name} ${kind})
    teff_skip_program(${program} "${reason}")
  endforeach()
endfunction()

# teff_add_adapters_benchmark(KIND LIBRARY [RANKS number | WORKERS number...] [TESTS flags...])
#
# A kind of benchmark for which each system writes a program. It gives the CMakeLists.txt of systems the function
# teff_add_KIND_program(NAME SOURCES... [LIBRARIES library...]). The program links LIBRARY. Each element of TESTS, the flags of a
# run, makes a test for each number of workers, or one test on so many ranks. For the CMakeLists.txt of the kind's folder.
function(teff_add_adapters_benchmark kind library)
  cmake_parse_arguments(PARSE_ARGV 2 benchmark "" "RANKS" "WORKERS;TESTS")
  foreach(name IN ITEMS RANKS WORKERS TESTS)
    set_property(GLOBAL PROPERTY TEFF_ADAPTERS_${name}_${kind} "${benchmark_${name}}")
  endforeach()
  cmake_language(EVAL CODE
    "function(teff_add_${kind}_program name)\nteff_add_adapter_program(${kind} ${library} \${name} \${ARGN})\nendfunction()")
endfunction()

# As teff_add_KIND_program, of which it is the body.
function(teff_add_adapter_program kind library name)
  cmake_parse_arguments(PARSE_ARGV 3 program "" "" "LIBRARIES")
  teff_add_program(${name} SOURCES ${program_UNPARSED_ARGUMENTS} LIBRARIES ${program_LIBRARIES} ${library})
  if(TEFF_SANITIZE)
    return()
  endif()
  foreach(each IN ITEMS RANKS WORKERS TESTS)
    get_property(${each} GLOBAL PROPERTY TEFF_ADAPTERS_${each}_${kind})
  endforeach()
  foreach(flags IN LISTS TESTS)
    separate_arguments(words UNIX_COMMAND "${flags}")
    if(RANKS)
      set(test "${name} ${flags}")
      add_test(NAME "${test}"
               COMMAND "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/start_ranks" core ${RANKS} $<TARGET_FILE:${name}> ${words})
      set_tests_properties("${test}" PROPERTIES RUN_SERIAL ON
        ENVIRONMENT "OMPI_MCA_btl=^tcp;OMPI_MCA_btl_vader_single_copy_mechanism=none")
      teff_expect_passed("${test}")
    endif()
    foreach(workers IN LISTS WORKERS)
      set(test "${name} --workers ${workers} ${flags}")
      add_test(NAME "${test}" COMMAND ${name} --workers ${workers} ${words})
      teff_expect_passed("${test}")
    endforeach()
  endforeach()
endfunction()

# The test's record says that the run validated itself.
function(teff_expect_passed test)
  set_tests_properties("${test}" PROPERTIES
    TIMEOUT 60 PASS_REGULAR_EXPRESSION "\"passed\":true" FAIL_REGULAR_EXPRESSION "\"error\":\"|error: ")
endfunction()

# A program of a system. Builds with a sanitizer make it only when it is asked for by name, since none of their tests runs it.
# Of a runtime that is not instrumented, a sanitizer would report false alarms.
function(teff_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;LIBRARIES;OPTIONS")
  add_executable(${name} ${program_SOURCES})
  target_link_libraries(${name} PRIVATE ${program_LIBRARIES})
  target_compile_options(${name} PRIVATE ${program_OPTIONS})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX) # also where all its sources are object files
  teff_lab_runs(${name})
  if(TEFF_SANITIZE)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()
