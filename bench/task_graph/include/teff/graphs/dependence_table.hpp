#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/graphs/interval.hpp"
#include "teff/graphs/task_graph.hpp"

namespace teff::graphs {

/// The dependence sets of a graph, computed once. Adapters read them on a task's critical path, where
/// computing a random pattern's hashes again at each timestep would be too slow. Memory is O(sets x width x
/// radix), no matter how many timesteps: the graph itself is not stored.
class dependence_table {
 public:
  explicit dependence_table(const task_graph& graph);

  /// The points at timestep - 1 whose outputs task (timestep, point) reads, in the order of its inputs.
  [[nodiscard]] point_range inputs(std::int64_t timestep, std::int64_t point) const {
    return {forward_.row(set_at(timestep), point), points(timestep - 1)};
  }
  /// The inputs of a point in a dependence set. A timestep may lack some of these points.
  [[nodiscard]] std::span<const interval> intervals(std::int64_t set, std::int64_t point) const {
    return forward_.row(set, point);
  }
  /// The points at timestep + 1 that read the output of task (timestep, point).
  [[nodiscard]] point_range consumers(std::int64_t timestep, std::int64_t point) const {
    if (timestep + 1 >= graph_.steps) return {};
    return {reverse_.row(set_at(timestep + 1), point), points(timestep + 1)};
  }
  /// As task_graph::points, without its indirect call where the width never changes.
  [[nodiscard]] interval points(std::int64_t timestep) const {
    if (varying_width_) return graph_.points(timestep);
    return timestep < 0 || timestep >= graph_.steps ? interval{} : interval{0, graph_.width - 1};
  }
  /// The dependence set that leads to `timestep`, which is not the first.
  [[nodiscard]] std::int64_t set_at(std::int64_t timestep) const {
    return sets_ == 1 ? 0 : graph_.dependence_set(timestep);
  }
  /// The greatest number of inputs of any task, consumers of any task.
  [[nodiscard]] std::size_t max_inputs() const { return forward_.max_points; }
  [[nodiscard]] std::size_t max_consumers() const { return reverse_.max_points; }
  [[nodiscard]] const task_graph& graph() const { return graph_; }

 private:
  /// The intervals of (set, point) lie at [starts[set * width + point], starts[... + 1]).
  struct rows {
    std::vector<interval> intervals;
    std::vector<std::size_t> starts{0};
    std::int64_t width = 0;
    std::size_t max_points = 0;

    [[nodiscard]] std::span<const interval> row(std::int64_t set, std::int64_t point) const {
      const auto at = static_cast<std::size_t>(set * width + point);
      return {intervals.data() + starts[at], starts[at + 1] - starts[at]};
    }
  };

  task_graph graph_;
  std::int64_t sets_;
  bool varying_width_;
  rows forward_;
  rows reverse_;
};

}  // namespace teff::graphs
