// Tasks of rayon: the spawn patterns on them are spawn/src/lib.rs, what those count and how they are driven
// is C++.
#pragma once

#include "teff/spawn/foreign_patterns.hpp"

namespace {

class task_system : public teff::spawn::foreign_patterns {
 public:
  using foreign_patterns::foreign_patterns;

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "rayon", .variant = "join", .version = TEFF_CRATE_VERSION, .workers = workers()};
  }
};

}  // namespace
