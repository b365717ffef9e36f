#include "teff/graphs/record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "task_graph_benchmark.hpp"

namespace teff::graphs {
namespace {

using bench::json;

json to_object(const task_graph& graph) {
  return {{"type", graph.pattern->name},
          {"steps", graph.steps},
          {"width", graph.width},
          {"radix", graph.radix},
          {"period", graph.period},
          {"fraction", graph.fraction},
          {"kernel", name(graph.kernel.kind)},
          {"iterations", graph.kernel.iterations},
          {"samples", graph.kernel.samples},
          {"imbalance", graph.kernel.imbalance},
          {"persistent_imbalance", graph.kernel.persistent_imbalance},
          {"output_bytes", graph.output_bytes},
          {"scratch_bytes", graph.scratch_bytes}};
}

/// The difference between the done and the expected work, or nothing.
std::string difference(const counters& done, const counters& expected) {
  if (done.tasks != expected.tasks)
    return fmt::format("{} tasks ran where the graph has {}", done.tasks, expected.tasks);
  if (done.dependencies != expected.dependencies)
    return fmt::format("{} dependences were consumed where the graph has {}", done.dependencies,
                       expected.dependencies);
  if (done.checksum != expected.checksum)
    return "the checksum differs from the analytic one: a task ran twice and another not at all";
  if (done != expected) return "FLOPs or bytes differ from the analytic count";
  return {};
}

}  // namespace

record validate(const bench::identity& who, const workload& work, const std::vector<outcome>& outcomes,
                std::string started_at) {
  record run{.who = who,
             .work = work.work(),
             .isa = work.isa(),
             .expected = work.expected(),
             .started_at = std::move(started_at),
             .simulated = work.simulated()};
  for (const outcome& each : outcomes) {
    run.done += each.done;
    run.seen += each.seen;
    run.elapsed_seconds = std::max(run.elapsed_seconds, each.elapsed_seconds);
    if (run.error.empty()) run.error = each.error;
  }
  if (!run.work.validate) run.expected.checksum = run.done.checksum;  // no worker summed one up
  if (run.error.empty()) run.error = difference(run.done, run.expected);
  if (run.work.nodes > 0) {
    run.local.emplace();
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      const locality part = estimate_locality(work.table(i), run.work.nodes);
      run.local->local += part.local;
      run.local->nonlocal += part.nonlocal;
    }
  }
  return run;
}

bench::record to_record(const record& run) {
  json own{{"isa", run.isa}};
  for (const task_graph& graph : run.work.graphs) own["graphs"].push_back(to_object(graph));
  own["nodes"] = run.work.nodes;
  own["tasks"] = run.done.tasks;
  own["dependencies"] = run.done.dependencies;
  own["flops"] = run.done.flops;
  own["bytes"] = run.done.bytes;
  own["local_dependencies"] = run.local ? json(run.local->local) : json();
  own["nonlocal_dependencies"] = run.local ? json(run.local->nonlocal) : json();
  if (run.simulated) own["simulated"] = {{"machine", run.simulated->machine}, {"seed", run.simulated->seed}};
  const json validation{{"enabled", run.work.validate},
                        {"passed", run.work.validate && run.error.empty()},
                        {"checksum", fmt::format("{:#018x}", run.done.checksum)},
                        {"expected", fmt::format("{:#018x}", run.expected.checksum)},
                        {"error", run.error.empty() ? json() : json(run.error)}};
  return {run.who,
          bench::measurement{run.started_at, run.elapsed_seconds, run.seen, validation, std::nullopt},
          run.error, std::move(own)};
}

std::string to_json(const record& run) {
  return bench::to_json(to_record(run), benchmark_name);
}

std::string graph_json(const configuration& work) {
  const bool several = work.graphs.size() > 1;
  std::string lines;
  for (const task_graph& graph : work.graphs) {
    for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep) {
      const interval points = graph.points(timestep);
      for (std::int64_t point = points.first; point <= points.last; ++point) {
        json dependencies = json::array();
        graph.for_each_dependency(timestep, point, [&](interval each) {
          for (std::int64_t input = each.first; input <= each.last; ++input) dependencies.push_back(input);
        });
        json task{{"timestep", timestep}, {"point", point}, {"dependencies", std::move(dependencies)}};
        if (several) task["graph"] = graph.index;
        lines += (lines.empty() ? "" : ",\n") + task.dump();
      }
    }
  }
  return "[" + lines + "]";
}

}  // namespace teff::graphs
