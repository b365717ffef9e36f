# The preset "clang" means the newest clang++ that is here. So does a build with a sanitizer, if that clang++ has its library: it
# takes half the time that GCC takes. Everything else takes the usual compiler. If that is too old, it takes a newer GCC beside
# it: Ubuntu 22.04's usual GCC 11 lacks __builtin_shufflevector.
option(TEFF_CLANG "Compile with the newest clang++ that is here" OFF)
set(TEFF_SANITIZE "" CACHE STRING "Sanitizers to compile with, as -fsanitize= takes them")

# Sets <result> to whether the compiler has the library of these sanitizers.
function(teff_can_sanitize result compiler sanitizers)
  set(tried "${CMAKE_BINARY_DIR}/CMakeFiles/sanitized")
  file(WRITE "${tried}.cpp" "int main() {}\n")
  execute_process(COMMAND "${compiler}" "-fsanitize=${sanitizers}" "${tried}.cpp" -o "${tried}"
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${result} OFF PARENT_SCOPE)
  else()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

if((TEFF_CLANG OR (TEFF_SANITIZE AND NOT DEFINED ENV{CXX})) AND NOT CMAKE_CXX_COMPILER)
  find_program(TEFF_CLANGXX NAMES clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++-15
                                  clang++-14 clang++)
  if(TEFF_CLANG AND NOT TEFF_CLANGXX)
    message(FATAL_ERROR "preset clang: no clang++ is here (apt-get install clang-19, or clang)")
  endif()
  set(teff_sanitizes OFF)
  if(TEFF_CLANGXX AND NOT TEFF_CLANG)
    teff_can_sanitize(teff_sanitizes "${TEFF_CLANGXX}" "${TEFF_SANITIZE}")
  endif()
  if(TEFF_CLANG OR teff_sanitizes)
    string(REPLACE "clang++" "clang" teff_clang "${TEFF_CLANGXX}")
    set(CMAKE_CXX_COMPILER "${TEFF_CLANGXX}" CACHE FILEPATH "C++ compiler")
    set(CMAKE_C_COMPILER "${teff_clang}" CACHE FILEPATH "C compiler")
  endif()
endif()
# Files that the build with the address sanitizer compiles by the same clang++ are not compiled once more for their warnings.
set(TEFF_LEFT_TO_SANITIZERS OFF)
if(TEFF_CLANG)
  teff_can_sanitize(TEFF_LEFT_TO_SANITIZERS "${CMAKE_CXX_COMPILER}" address,undefined)
endif()
# Of libraries that are linked into tests: a build with a sanitizer makes those that its tests link. Where they are left to that
# build, clang does not read them.
function(teff_leave_to_sanitizers)
  foreach(target IN LISTS ARGN)
    if(TEFF_SANITIZE AND TARGET ${target})
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    elseif(TEFF_LEFT_TO_SANITIZERS AND TARGET ${target})
      set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;true"
                            C_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;true")
    endif()
  endforeach()
endfunction()

if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  execute_process(COMMAND c++ -dumpversion OUTPUT_VARIABLE teff_usual ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(teff_usual AND teff_usual VERSION_LESS 12)
    find_program(TEFF_GXX NAMES g++-14 g++-13 g++-12)
    if(TEFF_GXX)
      string(REPLACE "g++" "gcc" teff_gcc "${TEFF_GXX}")
      set(CMAKE_CXX_COMPILER "${TEFF_GXX}" CACHE FILEPATH "C++ compiler")
      set(CMAKE_C_COMPILER "${teff_gcc}" CACHE FILEPATH "C compiler")
    endif()
  endif()
endif()
