#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "teff/graphs/counted_tasks.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// Runs a workload on a system that names the predecessors of a new task by handles. One thread makes all
/// tasks in the order of the timesteps, a few timesteps ahead of the running tasks. The outputs and handles
/// of these timesteps are kept. Before the thread makes tasks that overwrite outputs, it waits for those that
/// read them, so a task comes after its inputs only. The thread drops a handle after its task has run. So the
/// memory that the system allocates for a task goes back to the thread that makes the next tasks. The
/// workload must outlive it.
template <class Handle>
class named_predecessors {
 public:
  explicit named_predecessors(workload& work) : work_(work) {
    for (std::size_t i = 0; i < work.graphs(); ++i) graphs_.emplace_back(work.table(i));
  }

  /// Calls make(task, pointers to the handles of its predecessors) for each task, which returns its handle.
  /// Returns when all tasks have run. wait(handle) returns when that task has run. It is also called for a
  /// Handle{}, which names no task.
  template <class Make, class Wait>
  void run_all(Make make, Wait wait) {
    for (std::int64_t timestep = 0; timestep < work_.steps(); ++timestep)
      for (std::size_t index = 0; index < graphs_.size(); ++index) {
        for (const Handle& reader : graphs_[index].row(timestep + 1 - kept)) wait(reader);
        const interval points = work_.table(index).points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point)
          make_one({index, timestep, point}, make);
      }
    for (const graph& each : graphs_)
      for (const auto& row : each.rows)
        for (const Handle& last : row) wait(last);
  }

  void execute(const task_name& task, int worker) {
    graphs::execute(work_, graphs_[task.graph].outputs, task.graph, task.timestep, task.point, worker);
  }

 private:
  /// So many timesteps that workers find tasks while others take longer. With 4, 32 or 128 of them, times of
  /// empty tasks differed by no more than noise: of stencils, trees and nearest.
  static constexpr std::int64_t kept = 8;

  struct graph {
    explicit graph(const dependence_table& table)
        : outputs(table, kept),
          rows(kept, std::vector<Handle>(static_cast<std::size_t>(table.graph().width))) {}
    /// Of a timestep from -kept on.
    std::vector<Handle>& row(std::int64_t timestep) {
      return rows[static_cast<std::size_t>((timestep + kept) % kept)];
    }

    kept_outputs outputs;
    std::vector<std::vector<Handle>> rows;  ///< of the timesteps whose outputs are kept, by point
  };

  template <class Make>
  void make_one(const task_name& task, Make& make) {
    graph& here = graphs_[task.graph];
    std::vector<Handle>& before = here.row(task.timestep - 1);
    after_.clear();
    for (const std::int64_t each : work_.table(task.graph).inputs(task.timestep, task.point))
      after_.push_back(&before[static_cast<std::size_t>(each)]);
    here.row(task.timestep)[static_cast<std::size_t>(task.point)] = make(task, std::span(after_));
  }

  workload& work_;
  std::deque<graph> graphs_;
  std::vector<Handle*> after_;  // the predecessors of the next task: a copy of a handle may cost much
};

}  // namespace teff::graphs
