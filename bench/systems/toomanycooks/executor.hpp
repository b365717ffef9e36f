#pragma once

#define TMC_IMPL  // where its package was configured to be compiled apart: a program has one source
#include <tmc/all_headers.hpp>

#include <cstddef>
#include <future>
#include <string>
#include <vector>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/start_barrier.hpp"

/// TooManyCooks' own executor, with so many threads, each bound to a core.
class executor {
 public:
  explicit executor(int workers) {
    tmc::cpu_executor()
        .set_thread_count(static_cast<std::size_t>(workers))
        .set_thread_init_hook([](std::size_t thread) { teff::bench::bind_to_core(static_cast<int>(thread)); })
        .init();
  }
  ~executor() { tmc::cpu_executor().teardown(); }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  [[nodiscard]] teff::bench::identity describe(const char* variant) const {
    return {.system = "toomanycooks",
            .variant = variant,
            .version = std::to_string(TMC_VERSION_MAJOR) + "." + std::to_string(TMC_VERSION_MINOR) + "." +
                       std::to_string(TMC_VERSION_PATCH),
            .workers = threads(),
            .limits = "its build without TMC_MORE_THREADS, for more than 64,"};
  }

  /// Threads without work sleep at once. Returns when all are awake.
  void wake_all() const {
    teff::bench::start_barrier all(threads());
    std::vector<std::future<void>> awake;
    for (int thread = 0; thread < threads(); ++thread)
      awake.push_back(tmc::post_waitable(
          tmc::cpu_executor(), [&all] { all.arrive_and_wait(); }, 0, static_cast<std::size_t>(thread)));
    for (std::future<void>& each : awake) each.get();
  }

 private:
  [[nodiscard]] static int threads() { return static_cast<int>(tmc::cpu_executor().thread_count()); }
};
