#pragma once

#include <realm.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "teff/graphs/owned_grid.hpp"
#include "teff/graphs/task_order.hpp"

/// Processors for which one task spawns the tasks: a shard. With a shard for each processor, every message
/// from core to core on two cores would wait for a barrier. More would wait for the one that spawns.
constexpr int processors_of_a_shard = 2;

/// A graph, its kept outputs, and the barriers by which shards know of each other's tasks.
class shared_graph {
 public:
  shared_graph(const teff::graphs::workload& work, std::size_t index, int workers)
      : table(work.table(index)), grid(work, index, workers), order_(table) {
    note_crossings();
    for (std::int64_t t = 0; t < table.graph().steps; t += phases) {
      auto& some = barriers_.emplace_back(crosses_.size());
      for (std::size_t point = 0; point < some.size(); ++point)
        if (crosses_[point]) some[point] = Realm::Barrier::create_barrier(1);
    }
  }
  ~shared_graph() {
    for (auto& some : barriers_)
      for (std::size_t point = 0; point < some.size(); ++point)
        if (crosses_[point]) some[point].destroy_barrier();
  }
  shared_graph(const shared_graph&) = delete;
  shared_graph& operator=(const shared_graph&) = delete;

  [[nodiscard]] int shard_of(std::int64_t point) const {
    return static_cast<int>(grid.tasks.owner(point)) / processors_of_a_shard;
  }
  /// Whether tasks of other shards wait for tasks of this column.
  [[nodiscard]] bool crosses(std::int64_t point) const { return crosses_[static_cast<std::size_t>(point)]; }
  /// Of each column, for the timestep: the barriers of the one before are given.
  void advance(std::int64_t timestep, std::vector<Realm::Barrier>& barriers) const {
    if (timestep % phases == 0) {
      barriers = barriers_[static_cast<std::size_t>(timestep / phases)];
    } else {
      for (std::size_t point = 0; point < barriers.size(); ++point)
        if (crosses_[point]) barriers[point] = barriers[point].advance_barrier();
    }
  }

  template <class Each>
  void for_each_predecessor(std::int64_t timestep, std::int64_t point, Each each) const {
    if (!grid.kept) return order_.for_each_predecessor(timestep, point, each);
    if (timestep == 0) return;
    for (const std::int64_t input : table.inputs(timestep, point)) each(input);
  }

  const teff::graphs::dependence_table& table;
  teff::graphs::owned_grid grid;

 private:
  /// A barrier has no more than a million of them.
  static constexpr std::int64_t phases = std::int64_t{1} << 16;

  void note_crossings() {
    const teff::graphs::task_graph& graph = table.graph();
    crosses_.resize(static_cast<std::size_t>(graph.width));
    // Where the width is steady, as many timesteps as there are sets have each set once.
    const std::int64_t last =
        graph.pattern->varying_width ? graph.steps : std::min(graph.steps, graph.dependence_sets() + 2);
    for (std::int64_t t = 1; t < last; ++t) {
      const teff::graphs::interval points = table.points(t);
      for (std::int64_t point = points.first; point <= points.last; ++point)
        for_each_predecessor(t, point, [&](std::int64_t each) {
          if (shard_of(each) != shard_of(point)) crosses_[static_cast<std::size_t>(each)] = true;
        });
    }
  }

  teff::graphs::task_order order_;
  std::vector<bool> crosses_;
  std::deque<std::vector<Realm::Barrier>> barriers_;  ///< for as many timesteps each as a barrier has phases
};
