#include "teff/graphs/counters.hpp"

#include <optional>
#include <vector>

namespace teff::graphs {
namespace {

/// The result of a function of a task's inputs, for each (timestep, point). It is computed once a dependence
/// set if all timesteps after the first have the same width, otherwise anew.
template <class Value, class Function>
class memoised_by_set {
 public:
  memoised_by_set(const dependence_table& table, Function function)
      : table_(table), graph_(table.graph()), function_(function) {
    if (graph_.pattern->varying_width || graph_.steps < 2) return;
    const std::int64_t sets = graph_.dependence_sets();
    values_.resize(static_cast<std::size_t>(sets * graph_.width));
    for (std::int64_t timestep = 1; timestep <= sets && timestep < graph_.steps; ++timestep)
      for (std::int64_t point = 0; point < graph_.width; ++point)
        at(timestep, point) = compute(timestep, point);
  }

  Value operator()(std::int64_t timestep, std::int64_t point) {
    return timestep == 0 || values_.empty() ? compute(timestep, point) : at(timestep, point);
  }

 private:
  Value compute(std::int64_t timestep, std::int64_t point) {
    return function_(point, table_.inputs(timestep, point));
  }
  Value& at(std::int64_t timestep, std::int64_t point) {
    return values_[static_cast<std::size_t>(graph_.dependence_set(timestep) * graph_.width + point)];
  }

  const dependence_table& table_;
  const task_graph& graph_;
  Function function_;
  std::vector<Value> values_;
};

template <class Value, class Function>
memoised_by_set<Value, Function> memoise(const dependence_table& table, Function function) {
  return {table, function};
}

}  // namespace

counters expected_counters(const dependence_table& table) {
  struct input_sum {
    std::int64_t count = 0;
    std::uint64_t weight = 1;
  };
  auto inputs = memoise<input_sum>(table, [](std::int64_t, const point_range& points) {
    return input_sum{points.size(), inputs_weight(points)};
  });
  const task_graph& graph = table.graph();
  const auto of_timestep = [&](std::int64_t timestep) {
    counters sum;
    const interval points = table.points(timestep);
    for (std::int64_t point = points.first; point <= points.last; ++point) {
      const input_sum read = inputs(timestep, point);
      const std::int64_t iterations = graph.kernel.iterations_of(graph.index, timestep, point);
      sum += {1, read.count, graph.kernel.flops(iterations, graph.scratch_bytes),
              graph.kernel.bytes(iterations, graph.scratch_bytes),
              point_weight(graph.index, point) * read.weight};
    }
    return sum;
  };
  // Timesteps of one dependence set are alike if all of them have the same points and kernels.
  const bool repeats =
      !graph.pattern->varying_width && graph.kernel.kind != kernel_kind::load_imbalance && graph.steps > 1;
  std::vector<std::optional<counters>> known(static_cast<std::size_t>(repeats ? graph.dependence_sets() : 0));
  counters total;
  for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep) {
    std::optional<counters> own;
    std::optional<counters>& sum =
        repeats && timestep > 0 ? known[static_cast<std::size_t>(graph.dependence_set(timestep))] : own;
    if (!sum) sum = of_timestep(timestep);
    total +=
        {sum->tasks, sum->dependencies, sum->flops, sum->bytes, timestep_weight(timestep) * sum->checksum};
  }
  return total;
}

locality estimate_locality(const dependence_table& table, std::int64_t nodes) {
  const task_graph& graph = table.graph();
  const auto node_of = [&](std::int64_t point) {
    return static_cast<std::int64_t>(static_cast<__int128>(point) * nodes / graph.width);
  };
  auto of_task = memoise<locality>(table, [&](std::int64_t point, const point_range& points) {
    locality sum;
    for (const std::int64_t input : points) ++(node_of(input) == node_of(point) ? sum.local : sum.nonlocal);
    return sum;
  });
  locality total;
  for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep) {
    const interval points = table.points(timestep);
    for (std::int64_t point = points.first; point <= points.last; ++point) {
      const locality sum = of_task(timestep, point);
      total.local += sum.local;
      total.nonlocal += sum.nonlocal;
    }
  }
  return total;
}

}  // namespace teff::graphs
