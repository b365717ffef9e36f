#pragma once

#include <Kokkos_Core.hpp>

#include <string>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/workers.hpp"

/// Kokkos from start to end, on so many threads of its backend for the cores, each bound to a core.
class host {
 public:
  using space = Kokkos::DefaultHostExecutionSpace;

  explicit host(int workers)
      : scope_(Kokkos::InitializationSettings().set_num_threads(workers).set_disable_warnings(true)) {
    const Kokkos::Experimental::UniqueToken<space> threads;
    Kokkos::parallel_for(Kokkos::RangePolicy<space, Kokkos::Schedule<Kokkos::Static>>(0, concurrency()),
                         [&threads](int) {
                           const int thread = threads.acquire();
                           teff::bench::bind_to_core(thread);
                           threads.release(thread);
                         });
    Kokkos::fence();
    seen_ = teff::bench::count_workers(concurrency(), [](auto answer) {
      Kokkos::parallel_for(Kokkos::RangePolicy<space, Kokkos::Schedule<Kokkos::Static>>(0, concurrency()),
                           [&answer](int) { answer(); });
      Kokkos::fence();
    });
  }

  [[nodiscard]] teff::bench::identity describe(const char* variant) const {
    const int version = KOKKOS_VERSION;
    return {.system = "kokkos",
            .variant = variant,
            .version = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
                       std::to_string(version % 100) + ", " + space().name(),
            .workers = seen_,
            .limits = "OMP_THREAD_LIMIT or KOKKOS_NUM_THREADS"};
  }

 private:
  [[nodiscard]] static int concurrency() { return space().concurrency(); }

  Kokkos::ScopeGuard scope_;
  int seen_ = 0;  ///< threads that have been seen to work
};
