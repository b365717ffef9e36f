#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/window.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// A task as a system's closures carry it.
struct task_name {
  std::size_t graph;
  std::int64_t timestep;
  std::int64_t point;
};

/// How many chains of counted_tasks run, on a system that does not count them. At first the count is 1, for
/// the thread that spawns the first chains, until it waits.
class running_chains {
 public:
  /// Called before a chain is spawned, by one that runs: so the count does not come to 0 meanwhile.
  void begin_one() { running_.fetch_add(1, std::memory_order_relaxed); }
  /// Whether none runs any more. Only the last is told so.
  [[nodiscard]] bool end_one() {
    // Releases the writes of this chain, and acquires those that other chains made, for the thread that
    // waits.
    return running_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  std::atomic<std::int64_t> running_ = 1;
};

/// Runs a workload on a system whose tasks can spawn tasks, but know no dependences: the last predecessor of
/// a task to finish makes it ready. With the first task that it makes ready it goes on itself, the others it
/// spawns. So each spawn makes a chain of tasks. Nothing is stored of the graphs but a window of counters.
/// The workload must outlive it.
class counted_tasks {
 public:
  explicit counted_tasks(workload& work) : work_(work) {
    for (std::size_t i = 0; i < work.graphs(); ++i) graphs_.emplace_back(work.table(i));
  }

  /// Calls spawn(task) for each task of the first timesteps.
  template <class Spawn>
  void spawn_first(Spawn spawn) const {
    for (std::size_t index = 0; index < graphs_.size(); ++index) {
      const interval points = work_.table(index).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point) spawn({index, 0, point});
    }
  }

  /// Executes a task and the chain that follows from it. `worker` says on which worker the caller runs, which
  /// may be another one after a call of spawn(task).
  template <class Worker, class Spawn>
  void run_from(task_name first, Worker worker, Spawn spawn) {
    for (std::optional<task_name> next = first; next;) {
      const task_name here = *next;
      execute(here, worker());
      next = finish(here, spawn);
    }
  }

  /// Not inline: if the spawn moves the caller to another thread, its thread-local variables are different
  /// ones.
  [[gnu::noinline]] void execute(const task_name& task, int worker) {
    graphs::execute(work_, graphs_[task.graph].outputs, task.graph, task.timestep, task.point, worker);
  }

  /// Of a task that has been executed: returns the first that it makes ready, and calls spawn(task) for each
  /// other one.
  template <class Spawn>
  std::optional<task_name> finish(const task_name& done, Spawn& spawn) {
    std::optional<task_name> next;
    graphs_[done.graph].waiting.finish(done.timestep, done.point,
                                       [&](std::int64_t timestep, std::int64_t point) {
                                         const task_name ready{done.graph, timestep, point};
                                         if (!next) {
                                           next = ready;
                                         } else {
                                           spawn(ready);
                                         }
                                       });
    return next;
  }

 private:
  struct graph {
    explicit graph(const dependence_table& table) : outputs(table, 2), waiting(table) {}
    kept_outputs outputs;
    window waiting;
  };

  workload& work_;
  std::deque<graph> graphs_;
};

}  // namespace teff::graphs
