#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "teff/graphs/interval.hpp"
#include "teff/graphs/kernel.hpp"
#include "teff/graphs/pattern.hpp"

namespace teff::graphs {

/// A task's output is filled with these pairs, repeated: the task's name, which its consumers check.
struct payload {
  std::int64_t timestep;
  std::int64_t point;
};

/// A parameterized task graph: `width` points in each of `steps` timesteps, each point a task. The graph is
/// never stored; any question about any task is answered in O(radix) without allocation.
struct task_graph {
  std::int64_t index = 0;  ///< among the graphs that run at once; it seeds random patterns and imbalance
  std::int64_t steps = 4;
  std::int64_t width = 4;
  const graphs::pattern* pattern = find_pattern("trivial");
  std::int64_t radix = 3;
  std::int64_t period = 0;  ///< of patterns that use one
  double fraction = 0.25;   ///< of the possible dependencies that a random pattern keeps
  graphs::kernel kernel;
  std::int64_t output_bytes = sizeof(payload);
  std::int64_t scratch_bytes = 0;  ///< a worker's

  /// The points that exist at `timestep`; none before the first and after the last.
  [[nodiscard]] interval points(std::int64_t timestep) const {
    return timestep < 0 || timestep >= steps ? interval{} : pattern->points(*this, timestep);
  }
  [[nodiscard]] std::int64_t dependence_sets() const { return pattern->sets(*this); }
  [[nodiscard]] std::int64_t dependence_set(std::int64_t timestep) const {
    return pattern->set_at(*this, timestep);
  }

  /// Calls function(interval) for the points at timestep - 1 that the task (timestep, point) depends on.
  template <class Function>
  void for_each_dependency(std::int64_t timestep, std::int64_t point, Function function) const {
    const interval bounds = points(timestep - 1);
    auto clip = [&](interval each) {
      if (const interval kept = each.clipped_to(bounds); kept.size() > 0) function(kept);
    };
    pattern->dependencies(*this, dependence_set(timestep), point, interval_sink(clip));
  }

  /// Calls function(interval) for the points at timestep + 1 that depend on the task (timestep, point).
  template <class Function>
  void for_each_reverse_dependency(std::int64_t timestep, std::int64_t point, Function function) const {
    const interval bounds = points(timestep + 1);
    if (bounds.size() == 0) return;
    auto clip = [&](interval each) {
      if (const interval kept = each.clipped_to(bounds); kept.size() > 0) function(kept);
    };
    pattern->reverse_dependencies(*this, dependence_set(timestep + 1), point, interval_sink(clip));
  }

  /// Why these parameters don't make a graph (value, rule, way out), or an empty string.
  [[nodiscard]] std::string check() const;
};

}  // namespace teff::graphs
