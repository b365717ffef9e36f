#pragma once

#include <realm.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <latch>

#include "processors.hpp"
#include "shared_graph.hpp"
#include "teff/graphs/counted_tasks.hpp"

/// A workload while it runs, and the gate before it.
struct execution {
  execution(teff::graphs::workload& work, const processors& all)
      : work(work), all(all), waiting(all.count()) {
    for (std::size_t i = 0; i < work.graphs(); ++i) graphs.emplace_back(work, i, all.count());
  }
  teff::graphs::workload& work;
  const processors& all;
  std::deque<shared_graph> graphs;
  std::latch waiting;
  std::latch open{1};
};

enum : Realm::Processor::TaskFuncID { gate_task = processors::first_free_task, point_task };

/// The arguments of a point's task: Realm copies them.
struct task_arguments {
  execution* run;
  std::int64_t first;            ///< a timestep
  teff::graphs::task_name task;  ///< its timestep is counted from there
};

inline void execute_point(const void* arguments, std::size_t, const void* worker, std::size_t,
                          Realm::Processor) {
  const auto& [run, first, task] = *static_cast<const task_arguments*>(arguments);
  execute(run->work, run->graphs[task.graph].grid.outputs, task.graph, first + task.timestep, task.point,
          processors::worker_of(worker));
}

/// On which processor it runs.
inline Realm::Processor place_of(const execution& run, const teff::graphs::task_name& task) {
  return run.all.of(static_cast<int>(run.graphs[task.graph].grid.tasks.owner(task.point)));
}
