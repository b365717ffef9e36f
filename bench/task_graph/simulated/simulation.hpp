#pragma once

#include <cstdint>
#include <vector>

#include "machine.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::simulated {

/// A run of these graphs on this machine, a rank on each core: how long it takes, and what it did. A rank
/// executes its points of a timestep, each when its inputs are there, and then posts their messages.
[[nodiscard]] graphs::simulated_run simulate(const graphs::workload& work, const machine& on, int ranks,
                                             std::uint64_t seed);

/// The same with cores that only compute: nothing has to wait, so this needs no simulation.
[[nodiscard]] graphs::simulated_run compute_only(const graphs::workload& work, const machine& on, int ranks);

}  // namespace teff::simulated
