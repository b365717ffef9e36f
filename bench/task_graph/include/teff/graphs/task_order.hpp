#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "teff/graphs/dependence_table.hpp"
#include "teff/graphs/edges.hpp"

namespace teff::graphs {

/// Which task waits for which if the outputs of two timesteps are kept (edges.hpp). The edges are computed
/// once for each pair of dependence sets that follow each other.
class task_order {
 public:
  explicit task_order(const dependence_table& table)
      : table_(table),
        sets_(table.graph().dependence_sets()),
        layer_of_(static_cast<std::size_t>(sets_ * sets_), nullptr) {
    const std::int64_t all = table.graph().steps - 1;
    // Where the width is steady, the sets repeat.
    const std::int64_t last = table.graph().pattern->varying_width ? all : std::min(all, sets_);
    for (std::int64_t t = 0; t < last; ++t) {
      const edges*& layer = layer_of_[layer_index(t)];
      if (layer != nullptr) continue;
      layer = &layers_.emplace_back(table.graph(), table.graph().dependence_set(t),
                                    table.graph().dependence_set(t + 1));
    }
  }

  /// How many tasks (timestep, point) waits for: none in the first timestep.
  [[nodiscard]] std::int64_t predecessors(std::int64_t timestep, std::int64_t point) const {
    if (timestep == 0) return 0;
    const std::int64_t edges = layer_at(timestep - 1).predecessors(point, table_.points(timestep - 1)).size();
    return edges == 0 ? 1 : edges;
  }

  /// Calls each(p) for the points p at timestep - 1 that (timestep, point) waits for.
  template <class Each>
  void for_each_predecessor(std::int64_t timestep, std::int64_t point, Each each) const {
    if (timestep == 0) return;
    const interval before = table_.points(timestep - 1);
    const point_range awaited = layer_at(timestep - 1).predecessors(point, before);
    if (awaited.size() == 0) each(std::clamp(point, before.first, before.last));
    for (const std::int64_t predecessor : awaited) each(predecessor);
  }

  /// Calls each(p) for the points p at timestep + 1 that wait for (timestep, point).
  template <class Each>
  void for_each_successor(std::int64_t timestep, std::int64_t point, Each each) const {
    if (timestep + 1 >= table_.graph().steps) return;
    const interval here = table_.points(timestep);
    const interval there = table_.points(timestep + 1);
    const edges& layer = layer_at(timestep);
    for (const std::int64_t successor : layer.successors(point, there)) each(successor);
    // If the width varies, a point may appear that would wait for no task: it waits for the nearest point.
    const auto with_orphans = [&](interval points) {
      for (std::int64_t orphan = points.first; orphan <= points.last; ++orphan)
        if (layer.predecessors(orphan, here).size() == 0) each(orphan);
    };
    if (point == here.first) with_orphans({there.first, here.first - 1});
    if (point == here.last) with_orphans({here.last + 1, there.last});
  }

 private:
  [[nodiscard]] std::size_t layer_index(std::int64_t timestep) const {
    if (sets_ == 1) return 0;
    const task_graph& graph = table_.graph();
    return static_cast<std::size_t>(graph.dependence_set(timestep) * sets_ +
                                    graph.dependence_set(timestep + 1));
  }
  [[nodiscard]] const edges& layer_at(std::int64_t timestep) const {
    return *layer_of_[layer_index(timestep)];
  }

  const dependence_table& table_;
  std::int64_t sets_;
  std::deque<edges> layers_;
  std::vector<const edges*> layer_of_;  ///< of each pair of sets
};

}  // namespace teff::graphs
