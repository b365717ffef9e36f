#include <fmt/format.h>

#include <iterator>

#include "teff/graphs/record.hpp"

namespace teff::graphs {
namespace {

using text = std::back_insert_iterator<std::string>;

void describe_timestep(text out, const task_graph& graph, std::int64_t timestep, bool reverse) {
  const auto offset = [](interval points) { return points.size() == 0 ? 0 : points.first; };
  const interval here = graph.points(timestep);
  const interval before = graph.points(timestep - 1);
  const auto list = [&](interval each) {
    for (std::int64_t point = each.first; point <= each.last; ++point) fmt::format_to(out, " {}", point);
  };
  fmt::format_to(out,
                 "      Timestep {} (offset {}, width {}, last offset {}, last width {}):\n        Points:",
                 timestep, offset(here), here.size(), offset(before), before.size());
  list(here);
  fmt::format_to(out, "\n        Dependencies:\n");
  for (std::int64_t point = here.first; point <= here.last; ++point) {
    fmt::format_to(out, "          Point {}:", point);
    graph.for_each_dependency(timestep, point, list);
    fmt::format_to(out, "\n");
  }
  if (!reverse) return;
  fmt::format_to(out, "        Reverse Dependencies:\n");
  for (std::int64_t point = before.first; point <= before.last; ++point) {
    fmt::format_to(out, "          Point {}:", point);
    graph.for_each_reverse_dependency(timestep - 1, point, list);
    fmt::format_to(out, "\n");
  }
}

void describe_graph(text out, const task_graph& graph) {
  fmt::format_to(out, "    Task Graph {}:\n      Time Steps: {}\n      Max Width: {}\n", graph.index + 1,
                 graph.steps, graph.width);
  fmt::format_to(
      out, "      Dependence Type: {}\n      Radix: {}\n      Period: {}\n      Fraction Connected: {:f}\n",
      graph.pattern->name, graph.radix, graph.period, graph.fraction);
  fmt::format_to(out,
                 "      Kernel:\n        Type: {}\n        Iterations: {}\n        Samples: {}\n        "
                 "Imbalance: {:f}\n",
                 name(graph.kernel.kind), graph.kernel.iterations, graph.kernel.samples,
                 graph.kernel.imbalance);
  fmt::format_to(out, "      Output Bytes: {}\n      Scratch Bytes: {}\n", graph.output_bytes,
                 graph.scratch_bytes);
}

}  // namespace

std::string describe(const configuration& work) {
  std::string result = "Running Task Benchmark\n  Configuration:\n";
  const text out = std::back_inserter(result);
  for (const task_graph& graph : work.graphs) {
    describe_graph(out, graph);
    for (std::int64_t timestep = 0; work.verbosity > 0 && timestep < graph.steps; ++timestep)
      describe_timestep(out, graph, timestep, work.verbosity > 1);
  }
  return result;
}

std::string to_report(const record& run) {
  const counters& done = run.done;
  const double seconds = run.elapsed_seconds;
  std::string result;
  const text out = std::back_inserter(result);
  fmt::format_to(out, "Total Tasks {}\nTotal Dependencies {}\n", done.tasks, done.dependencies);
  if (run.local) {
    fmt::format_to(out, "  Local Dependencies {} (estimated)\n  Nonlocal Dependencies {} (estimated)\n",
                   run.local->local, run.local->nonlocal);
    fmt::format_to(out, "  Number of Nodes (used for estimate) {}\n", run.work.nodes);
  } else {
    fmt::format_to(out, "  Local and nonlocal dependencies: not estimated; -nodes N asks for it\n");
  }
  fmt::format_to(out, "Total FLOPs {}\nTotal Bytes {}\nElapsed Time {:e} seconds\nFLOP/s {:e}\nB/s {:e}\n",
                 done.flops, done.bytes, seconds, static_cast<double>(done.flops) / seconds,
                 static_cast<double>(done.bytes) / seconds);
  if (!run.error.empty())
    fmt::format_to(out, "NOT VALID: {}\n", run.error);
  else
    fmt::format_to(out, "{}{}{} with {} worker{}: {}\n", run.who.system, run.who.variant.empty() ? "" : "/",
                   run.who.variant, run.who.workers, run.who.workers == 1 ? "" : "s",
                   run.work.validate ? "every task and dependence validated" : "not validated, as asked for");
  return result;
}

}  // namespace teff::graphs
