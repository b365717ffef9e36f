# LLVM's libomp, with any compiler for the rest of Teff: only Clang compiles OpenMP for it.

set(OPENMP_CLANG_RELEASE "" CACHE STRING "The Clang to take; empty: the newest that has a libomp")

# Sets <clang> and <library> to the newest Clang that has a libomp beside it; without one, <clang> is empty.
function(find_clang_with_libomp clang library)
  set(${clang} "" PARENT_SCOPE)
  set(releases -21 -20 -19 -18 -17 -16 -15 -14 "")
  if(OPENMP_CLANG_RELEASE)
    set(releases "-${OPENMP_CLANG_RELEASE}")
  endif()
  foreach(version IN LISTS releases)
    unset(compiler)
    unset(libomp)
    find_program(compiler clang++${version} NO_CACHE)
    if(compiler)
      get_filename_component(binary "${compiler}" REALPATH)
      get_filename_component(folder "${binary}" DIRECTORY)
      find_library(libomp omp HINTS "${folder}/../lib" NO_CACHE)
      execute_process(COMMAND "${compiler}" -fopenmp -fsyntax-only -include omp.h -x c++ /dev/null
                      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(libomp AND NOT failed)
        set(${clang} "${compiler}" PARENT_SCOPE)
        set(${library} "${libomp}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

# Compiles SOURCE by <clang> with the flags that the compiler of this build gets, and sets <object> to the result. The libraries
# to be linked give the folders of headers.
function(compile_for_libomp source object libraries)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build}}")
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_PROPERTY:\\1,INTERFACE_INCLUDE_DIRECTORIES>"
       OUTPUT_VARIABLE includes)
  get_filename_component(source "${source}" ABSOLUTE)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/bench" "${source}")
  string(REPLACE "/" "_" name "${name}")
  set(result "${CMAKE_CURRENT_BINARY_DIR}/${name}.libomp.o")
  add_custom_command(
    OUTPUT "${result}"
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${clang}" -std=c++${CMAKE_CXX_STANDARD} ${flags} -Wall -Wextra -Wno-missing-field-initializers
            $<$<BOOL:${TEFF_WERROR}>:-Werror> -fopenmp -fPIE "-I$<JOIN:$<REMOVE_DUPLICATES:${includes}>,;-I>" ${ARGN}
            -MD -MF "${result}.d" -o "${result}" -c "${source}"
    DEPENDS "${source}"
    DEPFILE "${result}.d"
    COMMAND_EXPAND_LISTS VERBATIM)
  set(${object} "${result}" PARENT_SCOPE)
endfunction()
