#include "teff/graphs/input_checks.hpp"

#include "teff/graphs/counters.hpp"

namespace teff::graphs {

input_checks::input_checks(const dependence_table& table)
    : table_(&table), width_(static_cast<std::uint64_t>(table.graph().width)) {
  const task_graph& graph = table.graph();
  if (graph.pattern->varying_width || graph.steps < 2) return;
  later_timesteps_ = static_cast<std::uint64_t>(graph.steps) - 1;
  const std::int64_t sets = graph.dependence_sets();
  rows_.resize(static_cast<std::size_t>(sets) * width_);
  // As many timesteps as there are sets have each set once.
  for (std::int64_t timestep = 1; timestep <= sets && timestep < graph.steps; ++timestep)
    for (std::int64_t point = 0; point < graph.width; ++point) {
      const point_range inputs = table.inputs(timestep, point);
      rows_[static_cast<std::size_t>(table.set_at(timestep) * graph.width + point)] = {
          inputs.intervals(), static_cast<std::size_t>(inputs.size()),
          point_weight(graph.index, point) * inputs_weight(inputs)};
    }
}

}  // namespace teff::graphs
