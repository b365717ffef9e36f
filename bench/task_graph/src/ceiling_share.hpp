#pragma once

#include <vector>

#include "teff/bench/failure.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// A ceiling has no dependences: refuses a graph that has some.
inline void expect_no_dependences(workload& work) {
  for (std::size_t i = 0; i < work.graphs(); ++i)
    if (work.table(i).max_inputs() > 0)
      throw bench::usage_error("the ceiling has no dependences: give it -type trivial");
}

/// Of `columns` of a graph, every threads-th point of every timestep.
inline void execute_share(workload& work, std::size_t index, interval columns, int worker, int threads) {
  const task_graph& graph = work.graph(index);
  std::vector<std::byte> output(static_cast<std::size_t>(graph.output_bytes));
  for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep)
    for (std::int64_t point = columns.first + worker; point <= columns.last; point += threads)
      work.worker(worker).execute(index, timestep, point, output, {});
}

}  // namespace teff::graphs
