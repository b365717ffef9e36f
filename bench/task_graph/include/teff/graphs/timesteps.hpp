#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "teff/graphs/columns.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// Runs a workload on a system that knows fork and join only. The columns of all graphs run side by side, and
/// the join is the dependence of the next timestep. The workload must outlive it.
class timesteps {
 public:
  explicit timesteps(workload& work)
      : work_(work), columns_(columns_of(work)), outputs_(keep_outputs(work, 2)) {}

  [[nodiscard]] workload& work() const { return work_; }
  [[nodiscard]] std::int64_t count() const { return work_.steps(); }
  [[nodiscard]] std::size_t columns() const { return columns_.size(); }

  /// Executes the task of a column at a timestep, if it has one there.
  /// Not inline: if a join moves the caller to another thread, its thread-local variables are different ones.
  [[gnu::noinline]] void execute(std::int64_t timestep, std::size_t column, int worker) {
    const auto& [graph, point] = columns_[column];
    if (work_.table(graph).points(timestep).contains(point))
      graphs::execute(work_, outputs_[graph], graph, timestep, point, worker);
  }

 private:
  workload& work_;
  std::vector<column> columns_;
  std::deque<kept_outputs> outputs_;
};

}  // namespace teff::graphs
