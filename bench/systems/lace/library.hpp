#pragma once

#include <lace.h>

#include <cstddef>

#include "teff/bench/identity.hpp"

/// Lace from start to end, with so many workers. It binds them to the cores itself where it has hwloc.
class library {
 public:
  /// A worker's deque holds so many tasks and never grows.
  library(int workers, std::size_t deque_size) { lace_start(static_cast<unsigned>(workers), deque_size); }
  ~library() { lace_stop(); }
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  [[nodiscard]] static teff::bench::identity describe(const char* variant) {
    return {.system = "lace",
            .variant = variant,
            .version = TEFF_LACE_VERSION,
            .workers = static_cast<int>(lace_workers())};
  }
};
