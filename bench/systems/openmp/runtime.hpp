#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"

/// Has parallel regions start `asked` threads, and returns how many threads a region has: the environment may
/// allow fewer.
inline int start_team(int asked) {
  int started = 0;
  omp_set_dynamic(0);
  omp_set_num_threads(asked);
#pragma omp parallel
#pragma omp single
  started = omp_get_num_threads();
  return started;
}

/// What --identity says: the runtime this was compiled for is part of the variant's name, and the runtimes
/// don't tell their releases, so that the compiler's, which they come with, stands for it. `team` is what
/// start_team() returned.
inline teff::bench::identity identify(const std::string& way, int team) {
  constexpr auto limits = "OMP_THREAD_LIMIT or OMP_MAX_ACTIVE_LEVELS";
  const std::string standard = ", OpenMP " + std::to_string(_OPENMP);
#if defined(__clang__)
  return {.system = "openmp",
          .variant = way + "_libomp",
          .version = "LLVM libomp " + std::to_string(__clang_major__) + standard,
          .workers = team,
          .limits = limits};
#else
  return {.system = "openmp",
          .variant = way,
          .version = "libgomp (GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + ")" +
                     standard,
          .workers = team,
          .limits = limits};
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

/// The parallel loop: calls body(begin, end) for blocks that cover the indices from first to last - 1. Free
/// threads take blocks of `grain` indices. With 0, each thread has an equal block.
template <class Body>
void parallel_blocks(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) {
  if (grain == 0) {
#pragma omp parallel
    {
      const std::int64_t blocks = std::min<std::int64_t>(omp_get_num_threads(), last - first);
      const std::int64_t block = omp_get_thread_num();
      if (block < blocks)
        body(first + block * (last - first) / blocks, first + (block + 1) * (last - first) / blocks);
    }
  } else {
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t begin = first; begin < last; begin += grain) body(begin, std::min(begin + grain, last));
  }
}
