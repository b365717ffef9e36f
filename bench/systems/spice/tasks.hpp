// Spice's futures: spawn.zig has the spawn patterns on them; their counts and their driver are C++.
#pragma once

#include <string>

#include "teff/spawn/foreign_patterns.hpp"

extern "C" const char* spice_zig_version();  ///< of spawn.zig

namespace {

class task_system : public teff::spawn::foreign_patterns {
 public:
  using foreign_patterns::foreign_patterns;

  /// Spice has no versions yet.
  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "spice",
            .variant = "futures",
            .version = std::string("Zig ") + spice_zig_version(),
            .workers = workers()};
  }
};

}  // namespace
