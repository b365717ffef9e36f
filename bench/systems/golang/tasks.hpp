// Goroutines: spawn/spawn.go has the spawn patterns on them; their counts and their driver are C++.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "teff/spawn/foreign_patterns.hpp"

extern "C" char* golang_version();  ///< of spawn.go

namespace {

class task_system : public teff::spawn::foreign_patterns {
 public:
  using foreign_patterns::foreign_patterns;

  [[nodiscard]] teff::bench::identity describe() const {
    struct free_text {
      void operator()(char* text) const { std::free(text); }
    };
    const std::unique_ptr<char, free_text> version(golang_version());
    return {.system = "golang", .variant = "goroutines", .version = version.get(), .workers = workers()};
  }
};

}  // namespace
