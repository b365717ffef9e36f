# The kernels' sources. Those whose speed is a matter of the instruction set are compiled once for each set;
# at run time the processor decides.
set(TEFF_KERNEL_SOURCES
  src/kernel.cpp
  src/kernels/blas.cpp
  src/kernels/last_level_cache.cpp
  src/kernels/run.cpp
  src/kernels/scratch_file.cpp
  src/kernels/baseline.cpp)

# GCC fuses a * b + c by itself, Clang has to be told.
set(TEFF_ISA_FLAGS_baseline -ffp-contract=fast)
set(TEFF_ISA_FLAGS_avx2 -ffp-contract=fast -mavx2 -mfma)
set(TEFF_ISA_FLAGS_avx512 -ffp-contract=fast -mavx2 -mfma -mavx512f)

set(TEFF_ISAS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  list(APPEND TEFF_ISAS avx2 avx512)
  list(APPEND TEFF_KERNEL_SOURCES src/kernels/avx2.cpp src/kernels/avx512.cpp)
endif()
foreach(isa IN LISTS TEFF_ISAS)
  set_source_files_properties(src/kernels/${isa}.cpp PROPERTIES COMPILE_OPTIONS "${TEFF_ISA_FLAGS_${isa}}")
endforeach()
