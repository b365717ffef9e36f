#pragma once

#include <barrier>
#include <thread>
#include <vector>

#include "teff/bench/cores.hpp"
#include "teff/bench/workers.hpp"

namespace teff::bench {

/// Calls body(worker) in as many threads as there are workers, each bound to its own core. Calls all_ready()
/// once, when all threads run and before any of them goes on. Returns when all have ended.
template <class Ready, class Body>
void run_on_pinned_threads(int workers, Ready all_ready, Body body) {
  std::barrier ready(workers, [&]() noexcept { all_ready(); });
  std::vector<std::jthread> threads;
  for (int worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] {
      bind_to_core(worker);
      ready.arrive_and_wait();
      body(worker);
    });
  threads.clear();  // joins
}

/// Starts so many threads once, and returns how many of them ran at the same time.
[[nodiscard]] inline int count_pinned_threads(int workers) {
  return count_workers(
      workers, [workers](auto answer) { run_on_pinned_threads(workers, [] {}, [&](int) { answer(); }); });
}

}  // namespace teff::bench
