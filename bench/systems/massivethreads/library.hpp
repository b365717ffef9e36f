#pragma once

#include <myth/myth.h>

#include "teff/bench/identity.hpp"

/// MassiveThreads from start to end, with so many workers. The thread that makes it becomes the first of
/// them.
class library {
 public:
  explicit library(int workers) {
    myth_globalattr_t settings;
    myth_globalattr_init(&settings);
    myth_globalattr_set_n_workers(&settings, static_cast<std::size_t>(workers));
    myth_init_ex(&settings);
  }
  ~library() { myth_fini(); }
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  /// It does not tell its version.
  [[nodiscard]] teff::bench::identity describe(const char* variant) const {
    return {.system = "massivethreads",
            .variant = variant,
            .version = "1.0 or later",
            .workers = static_cast<int>(myth_get_num_workers())};
  }
};
