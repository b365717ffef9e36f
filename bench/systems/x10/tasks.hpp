// Activities of X10: Patterns.x10 has the spawn patterns on them; their counts and their driver are C++.
#pragma once

#include "teff/spawn/foreign_patterns.hpp"

namespace {

class task_system : public teff::spawn::foreign_patterns {
 public:
  using foreign_patterns::foreign_patterns;

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "x10", .variant = "asyncs", .version = TEFF_X10_VERSION, .workers = workers()};
  }
};

}  // namespace
