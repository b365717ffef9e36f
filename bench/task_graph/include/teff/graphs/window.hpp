#pragma once

#include <atomic>
#include <vector>

#include "teff/graphs/task_order.hpp"

namespace teff::graphs {

/// For a window of timesteps, how many predecessors of each task have finished: O(width) memory for each
/// dependence set, no matter how many timesteps.
class window {
 public:
  explicit window(const dependence_table& table)
      : order_(table),
        rows_(table.graph().dependence_sets() + 1),
        width_(table.graph().width),
        finished_(static_cast<std::size_t>(rows_ * width_)) {}

  /// Calls ready(timestep + 1, point) for each task that only waited for this one to finish.
  ///
  /// A counter is used again `sets + 1` timesteps later. When a predecessor (u - 1, q) of a task (u, p)
  /// finishes, (u - sets - 1, p) must not wait any more. If q is p, or if q read p's output, (u - 2, p) has
  /// run by then. Otherwise p reads q's output now as it did `sets` timesteps ago. Since then q has
  /// overwritten that output, and had to wait for p to read it. (The sets of a tree that turns around don't
  /// follow each other in a cycle. There (u - 3, p) has run, because q's column read it on the way out.)
  template <class Ready>
  void finish(std::int64_t timestep, std::int64_t point, Ready ready) {
    const std::int64_t next = timestep + 1;
    counter* const counters = finished_.data() + (next % rows_) * width_;
    order_.for_each_successor(timestep, point, [&](std::int64_t each) {
      std::atomic<std::int64_t>& count = counters[each].value;
      const std::int64_t all = order_.predecessors(next, each);
      // Releases this task's output and acquires the other predecessors' outputs, for the successor that the
      // last of them starts.
      if (all > 1 && count.fetch_add(1, std::memory_order_acq_rel) + 1 < all) return;
      count.store(0, std::memory_order_relaxed);  // no other thread touches it before this successor has run
      ready(next, each);
    });
  }

 private:
  struct alignas(64) counter {
    std::atomic<std::int64_t> value{0};
  };

  task_order order_;
  std::int64_t rows_;
  std::int64_t width_;
  std::vector<counter> finished_;
};

}  // namespace teff::graphs
