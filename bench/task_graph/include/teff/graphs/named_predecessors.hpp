#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "teff/graphs/counted_tasks.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/task_order.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// Runs a workload on a system that makes a task after others, which are named by handles: one thread makes
/// all tasks in the order of the timesteps, far ahead of those that run. The handles of two timesteps are
/// kept. The workload must outlive it.
template <class Handle>
class named_predecessors {
 public:
  explicit named_predecessors(workload& work) : work_(work) {
    for (std::size_t i = 0; i < work.graphs(); ++i) graphs_.emplace_back(work.table(i));
  }

  /// Calls make(task, handles of those that it comes after) for each task, which returns its handle. Where
  /// many may be waiting, each of which holds memory, calls wait(handle) for one that was made a while ago.
  template <class Make, class Wait>
  void make_all(Make make, Wait wait) {
    for (std::int64_t timestep = 0; timestep < work_.steps(); ++timestep)
      for (std::size_t index = 0; index < graphs_.size(); ++index) {
        const interval points = work_.table(index).points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point)
          keep_near(make_one({index, timestep, point}, make), wait);
      }
  }
  /// Calls wait(handle) for the tasks of the last timesteps, and some before.
  template <class Wait>
  void wait_for_last(Wait wait) const {
    for (const graph& each : graphs_)
      for (const auto& row : each.rows)
        for (const Handle& last : row) wait(last);
  }

  void execute(const task_name& task, int worker) {
    graphs::execute(work_, graphs_[task.graph].outputs, task.graph, task.timestep, task.point, worker);
  }

 private:
  struct graph {
    explicit graph(const dependence_table& table) : outputs(table, 2), order(table) {
      for (auto& row : rows) row.resize(static_cast<std::size_t>(table.graph().width));
    }
    kept_outputs outputs;
    task_order order;
    std::array<std::vector<Handle>, 2> rows;  ///< of the last two timesteps, by point
  };

  template <class Make>
  const Handle& make_one(const task_name& task, Make& make) {
    graph& here = graphs_[task.graph];
    after_.clear();
    here.order.for_each_predecessor(task.timestep, task.point, [&](std::int64_t each) {
      after_.push_back(
          here.rows[static_cast<std::size_t>(task.timestep + 1) % 2][static_cast<std::size_t>(each)]);
    });
    Handle& made =
        here.rows[static_cast<std::size_t>(task.timestep) % 2][static_cast<std::size_t>(task.point)];
    return made = make(task, std::span(after_));
  }

  template <class Wait>
  void keep_near(const Handle& last, Wait& wait) {
    constexpr std::int64_t many = 1024;
    if (++made_ % many != 0) return;
    const Handle old = std::exchange(mark_, last);
    if (made_ != many) wait(old);
  }

  workload& work_;
  std::deque<graph> graphs_;
  std::vector<Handle> after_;  ///< what the next task comes after
  std::int64_t made_ = 0;
  Handle mark_{};  ///< of a task made a while ago
};

}  // namespace teff::graphs
