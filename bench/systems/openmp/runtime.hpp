#pragma once

#include <omp.h>

#include <string>

#include "teff/bench/adapter.hpp"

/// What --identity says: the runtime this was compiled for is part of the variant's name, and the runtimes
/// don't tell their releases, so that the compiler's, which they come with, stands for it.
inline teff::bench::identity identify(const std::string& way, int workers) {
  const std::string standard = ", OpenMP " + std::to_string(_OPENMP);
#if defined(__clang__)
  return {.system = "openmp",
          .variant = way + "_libomp",
          .version = "LLVM libomp " + std::to_string(__clang_major__) + standard,
          .workers = workers};
#else
  return {.system = "openmp",
          .variant = way,
          .version = "libgomp (GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + ")" +
                     standard,
          .workers = workers};
#endif
}

/// Binds the calling thread of a parallel region as every other system's threads are bound, unless somebody
/// had the runtime do it: by then the process's mask is that of its first thread. (libgomp does it before
/// main() begins, so that it would also look like a machine of one core.)
inline void bind_thread() {
  if (omp_get_proc_bind() == omp_proc_bind_false) teff::bench::bind_to_core(omp_get_thread_num());
}
