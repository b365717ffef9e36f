# What an adapter's CMakeLists.txt may use. The systems are found by their folders: none is named here.
set(TEFF_LEFT_OUT "" CACHE STRING "Folders of bench/systems to leave out, because their CMakeLists.txt fails")

# The environment of the lab, where a system's packages from PyPI lie (their include/ and lib/).
set(TEFF_VENV "${PROJECT_SOURCE_DIR}/.teff/venv")

# Adds every system's folder that has a CMakeLists.txt.
function(teff_add_systems)
  file(REMOVE_RECURSE "${PROJECT_BINARY_DIR}/skipped")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/skipped")
  file(GLOB folders CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/systems/*/CMakeLists.txt")
  foreach(file IN LISTS folders)
    get_filename_component(folder "${file}" DIRECTORY)
    get_filename_component(name "${folder}" NAME)
    if(NOT name IN_LIST TEFF_LEFT_OUT)
      add_subdirectory("${folder}")
    endif()
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
# An adapter's program, linked to the core. Builds with a sanitizer make it only when it is asked for by name: no test of
# theirs runs it, and of a runtime that is not instrumented a sanitizer would blame us.
function(teff_add_system_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;LIBRARIES;OPTIONS")
  add_executable(${name} ${program_SOURCES} ${program_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE teff::task_graph ${program_LIBRARIES})
  target_compile_options(${name} PRIVATE ${program_OPTIONS})
  if(TEFF_SANITIZE)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()
