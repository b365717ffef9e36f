#pragma once

#include <cstdint>

#include "leanmd/kernels.hpp"

namespace teff::apps::leanmd {

/// The energies of the first and of the last step.
struct outcome {
  energies first;
  energies last;
};

/// `steps` steps of one femtosecond. `loops.each(count, kernel)` runs kernel(begin, end) for parts of [0,
/// count).
template <class Loops>
outcome simulate(problem& p, int steps, Loops& loops) {
  const auto for_each = [&](const auto& of, auto&& kernel) {
    loops.each(static_cast<std::int64_t>(of.size()),
               [&](std::int64_t begin, std::int64_t end) { kernel(p, begin, end); });
  };
  outcome found;
  for (int step = 1; step <= steps; ++step) {
    p.measures = step == 1 || step == steps;
    for_each(p.meetings, interact);
    for_each(p.cells, advance);
    if (p.measures) found.last = measured(p);
    if (step == 1) found.first = found.last;
    if (step % steps_to_migration == 0) {
      for_each(p.cells, leave);
      for_each(p.cells, arrive);
    }
  }
  return found;
}

}  // namespace teff::apps::leanmd
