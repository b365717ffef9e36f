#pragma once

#include <citor/hints.h>
#include <citor/thread_pool.h>
#include <citor/version.h>

#include <cstddef>

#include "teff/bench/identity.hpp"

/// citor's pool from start to end, with so many workers. The thread that makes it is one of them while they
/// run.
class pool {
 public:
  explicit pool(int workers) : pool_(static_cast<std::size_t>(workers)) {}

  [[nodiscard]] teff::bench::identity describe(const char* variant) const {
    return {.system = "citor",
            .variant = variant,
            .version = CITOR_VERSION_STRING,
            .workers = static_cast<int>(pool_.participants())};
  }

  /// Every worker that slept is awake.
  void wake_all() {
    pool_.parallelFor<citor::StaticHints>(0, pool_.participants(), [](std::size_t, std::size_t) {});
  }

  [[nodiscard]] citor::ThreadPool& get() { return pool_; }

 private:
  citor::ThreadPool pool_;
};
