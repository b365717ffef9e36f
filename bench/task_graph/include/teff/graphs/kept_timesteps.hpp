#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "teff/graphs/dependence_table.hpp"

namespace teff::graphs {

namespace detail {

/// The points at timestep + 1 that read an output of `points` at timestep. A set of points is a word with a
/// bit for each, so there are at most 64.
inline std::uint64_t readers(const dependence_table& table, std::int64_t timestep, std::uint64_t points) {
  std::uint64_t all = 0;
  for (; points != 0; points &= points - 1)
    for (const std::int64_t each : table.consumers(timestep, std::countr_zero(points)))
      all |= std::uint64_t{1} << each;
  return all;
}

/// Whether each task of timestep + kept comes after all that read the output of the same point at timestep.
inline bool follows_readers(const dependence_table& table, std::int64_t timestep, std::int64_t kept) {
  for (std::int64_t point = 0; point < table.graph().width; ++point) {
    const std::uint64_t own = std::uint64_t{1} << point;
    std::uint64_t left = readers(table, timestep, own);
    if (left == 0) return false;  // no task reads it, so nothing orders its next writer after it
    for (; left != 0; left &= left - 1) {
      std::uint64_t after = left & -left;
      for (std::int64_t t = timestep + 1; t < timestep + kept; ++t) after = readers(table, t, after);
      if ((after & own) == 0) return false;
    }
  }
  return true;
}

}  // namespace detail

/// For how many timesteps outputs must be kept if tasks wait for their inputs only: so many that no task
/// overwrites what another has still to read. It is a power of two, at most `most`. Nothing if there is none,
/// and for graphs of more than 64 points or of a varying width, which are not examined.
inline std::optional<std::int64_t> kept_timesteps(const dependence_table& table, std::int64_t most) {
  const task_graph& graph = table.graph();
  if (graph.pattern->varying_width || graph.width > 64) return {};
  // Every task after the first timestep needs an input: it is what starts the task.
  for (std::int64_t t = 1; t < std::min(graph.steps, graph.dependence_sets() + 1); ++t)
    for (std::int64_t point = 0; point < graph.width; ++point)
      if (table.inputs(t, point).size() == 0) return {};
  const auto enough = [&](std::int64_t kept) {
    // Where the width is steady, as many timesteps as there are sets have each set once.
    for (std::int64_t t = 0; t < graph.dependence_sets() && t + kept < graph.steps; ++t)
      if (!detail::follows_readers(table, t, kept)) return false;
    return true;
  };
  for (std::int64_t kept = 2; kept <= most; kept *= 2)
    if (enough(kept)) return kept;
  return {};
}

}  // namespace teff::graphs
