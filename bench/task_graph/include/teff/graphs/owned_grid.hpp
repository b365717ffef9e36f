#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/kept_timesteps.hpp"
#include "teff/graphs/owned_columns.hpp"

namespace teff::graphs {

/// A graph's tasks by the workers that own them, all ranks' together, and the outputs that this process
/// keeps.
struct owned_grid {
  static constexpr std::int64_t most_kept = 8;

  owned_grid(const workload& work, std::size_t index, int workers)
      : kept(kept_timesteps(work.table(index), most_kept)),
        tasks(work, index, workers, kept.has_value()),
        outputs(work.table(index), kept.value_or(2)) {}

  std::optional<std::int64_t> kept;  ///< none: tasks wait for more than their inputs
  owned_columns tasks;
  kept_outputs outputs;
};

}  // namespace teff::graphs
