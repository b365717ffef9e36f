#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "teff/graphs/kept_outputs.hpp"

/// One of each graph.
using columns = std::deque<teff::bench::kept_outputs>;

inline columns make_columns(const teff::bench::workload& work, std::int64_t kept) {
  columns all;
  for (std::size_t i = 0; i < work.graphs(); ++i) all.emplace_back(work.table(i), kept);
  return all;
}

/// Executes a task with the outputs of the timestep before as its inputs.
inline void execute(teff::bench::workload& work, columns& all, std::size_t graph, std::int64_t timestep,
                    std::int64_t point, int worker) {
  thread_local std::vector<teff::bench::input> scratch;
  teff::bench::kept_outputs& outputs = all[graph];
  work.worker(worker).execute(graph, timestep, point, outputs.at(timestep, point),
                              outputs.inputs(timestep, point, scratch));
}
