#pragma once

#include <string>
#include <vector>

#include "teff/bench/workload.hpp"

/// The outputs of a graph's last two timesteps: that of timestep t is overwritten at t + 2.
class columns {
 public:
  explicit columns(const teff::bench::task_graph& graph)
      : width_(graph.width),
        bytes_(static_cast<std::size_t>(graph.output_bytes)),
        memory_(2 * static_cast<std::size_t>(width_) * bytes_) {}

  [[nodiscard]] std::span<std::byte> output(std::int64_t timestep, std::int64_t point) {
    return {memory_.data() + static_cast<std::size_t>((timestep & 1) * width_ + point) * bytes_, bytes_};
  }

 private:
  std::int64_t width_;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

inline std::vector<columns> make_columns(const teff::bench::workload& work) {
  std::vector<columns> all;
  for (std::size_t i = 0; i < work.graphs(); ++i) all.emplace_back(work.graph(i));
  return all;
}

/// The version of the standard that the compiler implements, by its date.
inline std::string openmp_version() {
  return "OpenMP " + std::to_string(_OPENMP);
}

/// Executes a task with the outputs of the timestep before as its inputs.
inline void execute(teff::bench::workload& work, std::vector<columns>& all, std::size_t graph,
                    std::int64_t timestep, std::int64_t point, int worker) {
  thread_local std::vector<teff::bench::input> inputs;
  inputs.clear();
  for (const std::int64_t each : work.table(graph).inputs(timestep, point))
    inputs.emplace_back(all[graph].output(timestep - 1, each));
  work.worker(worker).execute(graph, timestep, point, all[graph].output(timestep, point), inputs);
}
