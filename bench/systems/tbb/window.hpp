#pragma once

#include <atomic>
#include <deque>
#include <vector>

#include "edges.hpp"
#include "teff/bench/dependence_table.hpp"

/// For a window of timesteps, how many predecessors of each task have finished: O(width) memory for each
/// dependence set, no matter how many timesteps.
class window {
 public:
  explicit window(const teff::bench::dependence_table& table)
      : table_(table),
        sets_(table.graph().dependence_sets()),
        rows_(sets_ + 1),
        width_(table.graph().width),
        finished_(static_cast<std::size_t>(rows_ * width_)),
        layer_of_(static_cast<std::size_t>(sets_ * sets_), nullptr) {
    for (std::int64_t t = 0; t + 1 < table.graph().steps; ++t) {
      const edges*& layer = layer_of_[layer_index(t)];
      if (layer != nullptr) continue;
      layer = &layers_.emplace_back(table.graph(), table.graph().dependence_set(t),
                                    table.graph().dependence_set(t + 1));
    }
  }

  /// Calls ready(timestep + 1, point) for each task that only waited for this one to finish.
  ///
  /// A counter serves again `sets + 1` timesteps later. No predecessor (u - 1, q) of (u, p) finishes before
  /// that is safe, while (u - sets - 1, p) still waits. If q is p, or read p's output, then (u - 2, p) has
  /// run. Otherwise p reads q's output as it did `sets` timesteps ago, and q, which has overwritten what p
  /// read then, had to wait for it. (Sets that don't take turns are those of a tree that turns around: there
  /// (u - 3, p) has run, as q's own column read it on the way out.)
  template <class Ready>
  void finish(std::int64_t timestep, std::int64_t point, Ready ready) {
    const std::int64_t next = timestep + 1;
    if (next >= table_.graph().steps) return;
    const teff::bench::interval here = table_.points(timestep);
    const teff::bench::interval there = table_.points(next);
    const edges& layer = *layer_of_[layer_index(timestep)];
    counter* const counters = finished_.data() + (next % rows_) * width_;
    for (const std::int64_t each : layer.successors(point, there)) {
      std::atomic<std::int64_t>& count = counters[each].value;
      const std::int64_t all = layer.predecessors(each, here).size();
      // Releases this task's output and acquires those of the others, for the successor that the last starts.
      if (all > 1 && count.fetch_add(1, std::memory_order_acq_rel) + 1 < all) continue;
      count.store(0, std::memory_order_relaxed);  // nobody else touches it before this successor has run
      ready(next, each);
    }
    // Where the width varies a point may appear that waits for nobody. It follows the point nearest to it.
    const auto start_orphans = [&](teff::bench::interval points) {
      for (std::int64_t each = points.first; each <= points.last; ++each)
        if (layer.predecessors(each, here).size() == 0) ready(next, each);
    };
    if (point == here.first) start_orphans({there.first, here.first - 1});
    if (point == here.last) start_orphans({here.last + 1, there.last});
  }

 private:
  struct alignas(64) counter {
    std::atomic<std::int64_t> value{0};
  };

  [[nodiscard]] std::size_t layer_index(std::int64_t timestep) const {
    if (sets_ == 1) return 0;
    const teff::bench::task_graph& graph = table_.graph();
    return static_cast<std::size_t>(graph.dependence_set(timestep) * sets_ +
                                    graph.dependence_set(timestep + 1));
  }

  const teff::bench::dependence_table& table_;
  std::int64_t sets_;
  std::int64_t rows_;
  std::int64_t width_;
  std::vector<counter> finished_;
  std::deque<edges> layers_;
  std::vector<const edges*> layer_of_;
};
