#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "teff/bench/workload.hpp"

/// The outputs of a graph's last `Kept` timesteps: that of timestep t is overwritten at t + Kept.
template <std::int64_t Kept>
class columns {
 public:
  explicit columns(const teff::bench::task_graph& graph)
      : width_(graph.width),
        bytes_(static_cast<std::size_t>(graph.output_bytes)),
        memory_(static_cast<std::size_t>(Kept * width_) * bytes_) {}

  [[nodiscard]] std::span<std::byte> output(std::int64_t timestep, std::int64_t point) {
    return {memory_.data() + static_cast<std::size_t>(timestep % Kept * width_ + point) * bytes_, bytes_};
  }

 private:
  std::int64_t width_;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

template <std::int64_t Kept>
std::vector<columns<Kept>> make_columns(const teff::bench::workload& work) {
  std::vector<columns<Kept>> all;
  for (std::size_t i = 0; i < work.graphs(); ++i) all.emplace_back(work.graph(i));
  return all;
}

/// Executes a task with the outputs of the timestep before as its inputs.
template <std::int64_t Kept>
void execute(teff::bench::workload& work, std::vector<columns<Kept>>& all, std::size_t graph,
             std::int64_t timestep, std::int64_t point, int worker) {
  thread_local std::vector<teff::bench::input> inputs;
  inputs.clear();
  for (const std::int64_t each : work.table(graph).inputs(timestep, point))
    inputs.emplace_back(all[graph].output(timestep - 1, each));
  work.worker(worker).execute(graph, timestep, point, all[graph].output(timestep, point), inputs);
}
