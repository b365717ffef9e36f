#pragma once

#include <oneapi/tbb/task_arena.h>

#include <vector>

#include "teff/graphs/kept_outputs.hpp"

/// The outputs of a graph's last two timesteps.
class outputs {
 public:
  outputs(teff::bench::workload& work, std::size_t index)
      : work_(work), index_(index), kept_(work.table(index), 2) {}

  /// Executes a task on the worker that calls.
  void execute(std::int64_t timestep, std::int64_t point) {
    thread_local std::vector<teff::bench::input> scratch;
    work_.worker(tbb::this_task_arena::current_thread_index())
        .execute(index_, timestep, point, kept_.at(timestep, point), kept_.inputs(timestep, point, scratch));
  }

 private:
  teff::bench::workload& work_;
  std::size_t index_;
  teff::bench::kept_outputs kept_;
};
