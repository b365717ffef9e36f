#pragma once

#include <omp.h>

#include <string>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"

/// The --identity of a variant. The variant's name contains the runtime that this was compiled for. The
/// runtimes don't tell their releases, so the release of their compiler stands for it.
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

/// Cores of the process. If the runtime was told to bind threads, libgomp has bound the first one before
/// main() begins. That thread's mask would look like a machine of one core.
inline int cores() {
  return omp_get_num_procs();
}

/// Binds the calling thread of a parallel region as every other system's threads are bound, unless the user
/// had the runtime do it.
inline void bind_thread() {
  if (omp_get_proc_bind() == omp_proc_bind_false) teff::bench::bind_to_core(omp_get_thread_num());
}
