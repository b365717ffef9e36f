# The preset "clang" means the newest clang++ that is here; everything else takes the usual compiler.
option(TEFF_CLANG "Compile with the newest clang++ that is here" OFF)

if(TEFF_CLANG AND NOT CMAKE_CXX_COMPILER)
  find_program(TEFF_CLANGXX NAMES clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++-15
                                  clang++-14 clang++)
  if(NOT TEFF_CLANGXX)
    message(FATAL_ERROR "preset clang: no clang++ is here (apt-get install clang-19, or clang)")
  endif()
  string(REPLACE "clang++" "clang" teff_clang "${TEFF_CLANGXX}")
  set(CMAKE_CXX_COMPILER "${TEFF_CLANGXX}" CACHE FILEPATH "C++ compiler")
  set(CMAKE_C_COMPILER "${teff_clang}" CACHE FILEPATH "C compiler")
endif()
