// Tasks of rayon: spawn/src/lib.rs has the spawn patterns on them; their counts and their driver are C++.
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
