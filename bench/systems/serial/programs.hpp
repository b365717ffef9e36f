// The floor of all programs: everything by calls, on one core for any number of workers.
#pragma once

#include <string>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/programs/in_order.hpp"

namespace {

class program_system : public teff::programs::in_order {
 public:
  explicit program_system(int) { teff::bench::bind_to_core(0); }

  [[nodiscard]] static teff::bench::identity describe() {
    return {
        .system = "serial", .variant = "program", .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE)};
  }
};

}  // namespace
