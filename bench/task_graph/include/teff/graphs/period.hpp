#pragma once

#include <algorithm>
#include <cstdint>

#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// A stretch of timesteps that repeat with period `length`: the same points with the same dependences. The
/// length is even, since outputs are kept of two timesteps; it is 0 if there is no such stretch.
struct period {
  std::int64_t first = 0;
  std::int64_t length = 0;
  std::int64_t repeats = 0;  ///< of the whole length, at least 3

  [[nodiscard]] std::int64_t end() const { return first + length * repeats; }
};

/// Whether the graphs of a workload have the same points and dependence sets at both timesteps.
inline bool look_alike(const workload& work, std::int64_t one, std::int64_t other) {
  for (std::size_t i = 0; i < work.graphs(); ++i) {
    const task_graph& graph = work.graph(i);
    if (!(graph.points(one) == graph.points(other)) ||
        (one < graph.steps && graph.dependence_set(one) != graph.dependence_set(other)))
      return false;
  }
  return true;
}

/// The stretch around the middle timestep with the shortest period, if it is at least half of all.
inline period find_period(const workload& work) {
  constexpr std::int64_t longest = 512;
  const std::int64_t steps = work.steps();
  for (std::int64_t length = 2; length <= std::min(longest, steps / 4); length += 2) {
    const std::int64_t middle = (steps - length) / 2;
    std::int64_t first = middle;
    while (first > 0 && look_alike(work, first - 1, first - 1 + length)) --first;
    std::int64_t end = middle;  // of the timesteps that look like those a period later
    while (end + length < steps && look_alike(work, end, end + length)) ++end;
    const std::int64_t repeats = (end + length - first) / length;
    if (repeats >= 3 && repeats * length >= steps / 2) return {first, length, repeats};
  }
  return {};
}

}  // namespace teff::graphs
