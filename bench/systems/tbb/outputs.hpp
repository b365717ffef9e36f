#pragma once

#include <oneapi/tbb/task_arena.h>

#include <span>
#include <vector>

#include "teff/bench/workload.hpp"

/// The outputs of a graph's last two timesteps: that of timestep t is overwritten at t + 2.
class outputs {
 public:
  outputs(teff::bench::workload& work, std::size_t index)
      : work_(work),
        index_(index),
        width_(work.graph(index).width),
        bytes_(static_cast<std::size_t>(work.graph(index).output_bytes)),
        memory_(2 * static_cast<std::size_t>(width_) * bytes_) {}

  /// Executes a task on the worker that calls.
  void execute(std::int64_t timestep, std::int64_t point) {
    thread_local std::vector<teff::bench::input> inputs;
    inputs.clear();
    for (const std::int64_t each : work_.table(index_).inputs(timestep, point))
      inputs.emplace_back(at(timestep - 1, each));
    work_.worker(tbb::this_task_arena::current_thread_index())
        .execute(index_, timestep, point, at(timestep, point), inputs);
  }

 private:
  [[nodiscard]] std::span<std::byte> at(std::int64_t timestep, std::int64_t point) {
    return {memory_.data() + static_cast<std::size_t>((timestep & 1) * width_ + point) * bytes_, bytes_};
  }

  teff::bench::workload& work_;
  std::size_t index_;
  std::int64_t width_;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};
