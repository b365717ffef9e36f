#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "teff/graphs/task_rows.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// The outputs of a graph's last `kept` timesteps, a power of two. All workers of a process share them, and
/// the output of timestep t is overwritten at t + kept. They lie side by side, so that small ones of
/// neighbours cross to another core together. The table has to outlive it.
class kept_outputs {
 public:
  kept_outputs(const dependence_table& table, std::int64_t kept)
      : table_(table),
        kept_(kept),
        bytes_(static_cast<std::size_t>(table.graph().output_bytes)),
        memory_(static_cast<std::size_t>(kept * width()) * bytes_),
        inputs_(table, {0, width() - 1}, kept, std::bind_front(&kept_outputs::collect, this)) {}

  [[nodiscard]] std::span<std::byte> at(std::int64_t timestep, std::int64_t point) {
    return {memory_.data() + offset(timestep, point), bytes_};
  }
  /// The inputs of a task, in the order of its dependences. `scratch` may be written to.
  [[nodiscard]] std::span<const input> inputs(std::int64_t timestep, std::int64_t point,
                                              std::vector<input>& scratch) const {
    return inputs_.at(timestep, point, scratch, std::bind_front(&kept_outputs::collect, this));
  }

 private:
  [[nodiscard]] std::int64_t width() const { return table_.graph().width; }
  [[nodiscard]] std::size_t offset(std::int64_t timestep, std::int64_t point) const {
    return static_cast<std::size_t>((timestep & (kept_ - 1)) * width() + point) * bytes_;
  }
  void collect(std::int64_t timestep, std::int64_t point, std::vector<input>& inputs) const {
    inputs.clear();
    for (const std::int64_t each : table_.inputs(timestep, point))
      inputs.emplace_back(memory_.data() + offset(timestep - 1, each), bytes_);
  }

  const dependence_table& table_;
  std::int64_t kept_;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
  task_rows<std::vector<input>> inputs_;
};

/// Makes one for each graph of a workload.
inline std::deque<kept_outputs> keep_outputs(const workload& work, std::int64_t kept) {
  std::deque<kept_outputs> all;
  for (std::size_t i = 0; i < work.graphs(); ++i) all.emplace_back(work.table(i), kept);
  return all;
}

/// Executes a task of a graph, whose outputs these are, on a worker: the inputs are the outputs of the
/// timestep before.
inline void execute(workload& work, kept_outputs& outputs, std::size_t graph, std::int64_t timestep,
                    std::int64_t point, int worker) {
  thread_local std::vector<input> scratch;
  work.worker(worker).execute(graph, timestep, point, outputs.at(timestep, point),
                              outputs.inputs(timestep, point, scratch));
}

}  // namespace teff::graphs
