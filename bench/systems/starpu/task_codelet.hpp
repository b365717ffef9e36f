#pragma once

#include <starpu.h>

#include <vector>

#include "teff/graphs/workload.hpp"

/// The arguments of a task's codelet besides its data.
struct task_name {
  teff::graphs::workload* work;
  std::size_t graph;
  std::int64_t timestep;
  std::int64_t point;
};

/// Executes a task on the worker that calls. The first buffer is its output, the others are its inputs.
inline void execute(const task_name& task, void* buffers[]) {
  teff::graphs::workload& work = *task.work;
  const auto bytes = static_cast<std::size_t>(work.graph(task.graph).output_bytes);
  const auto at = [&](std::int64_t i) {
    return reinterpret_cast<std::byte*>(STARPU_VARIABLE_GET_PTR(buffers[i]));
  };
  const std::int64_t count = work.table(task.graph).inputs(task.timestep, task.point).size();
  thread_local std::vector<teff::graphs::input> inputs;
  inputs.clear();
  for (std::int64_t i = 1; i <= count; ++i) inputs.emplace_back(at(i), bytes);
  work.worker(starpu_worker_get_id()).execute(task.graph, task.timestep, task.point, {at(0), bytes}, inputs);
}
