#pragma once

#include "leanmd/problem.hpp"
#include "teff/apps/ways.hpp"

namespace teff::apps::leanmd {

/// The energies of the first and of the last step.
struct outcome {
  energies first;
  energies last;
};

/// `steps` time steps of one femtosecond, as steps of a way. Returns when all of them have run.
[[nodiscard]] outcome simulate(problem& p, int steps, way& by);

/// The particles that are outside of their cell go to the cell that they are in.
void migrate(problem& p, way& by);

}  // namespace teff::apps::leanmd
