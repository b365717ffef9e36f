#include "teff/graphs/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace teff::bench {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view schema = "teff-record-1";

json to_object(const identity& who) {
  return {{"system", who.system},
          {"variant", who.variant},
          {"version", who.version},
          {"workers", who.workers},
          {"ranks", who.ranks}};
}

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

/// Why what was done is not what had to be done, or nothing.
std::string difference(const tally& done, const tally& expected) {
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

record judge(const identity& who, const workload& work, const std::vector<outcome>& outcomes,
             std::string started_at) {
  record run{
      .who = who, .work = work.work(), .expected = work.expected(), .started_at = std::move(started_at)};
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

std::string to_json(const record& run) {
  json object{{"schema", schema}};
  object.update(to_object(run.who));
  object["isa"] = name(run.work.isa);
  for (const task_graph& graph : run.work.graphs) object["graphs"].push_back(to_object(graph));
  object["nodes"] = run.work.nodes;
  object["elapsed_seconds"] = run.elapsed_seconds;
  object["tasks"] = run.done.tasks;
  object["dependencies"] = run.done.dependencies;
  object["flops"] = run.done.flops;
  object["bytes"] = run.done.bytes;
  object["local_dependencies"] = run.local ? json(run.local->local) : json();
  object["nonlocal_dependencies"] = run.local ? json(run.local->nonlocal) : json();
  object["validation"] = {{"enabled", run.work.validate},
                          {"passed", run.work.validate && run.error.empty()},
                          {"checksum", fmt::format("{:#018x}", run.done.checksum)},
                          {"expected", fmt::format("{:#018x}", run.expected.checksum)},
                          {"error", run.error.empty() ? json() : json(run.error)}};
  object["disturbance"] = {{"cpu_seconds", run.seen.cpu_seconds},
                           {"voluntary_switches", run.seen.voluntary_switches},
                           {"involuntary_switches", run.seen.involuntary_switches},
                           {"gap_share_before", run.seen.gap_share_before},
                           {"gap_share_after", run.seen.gap_share_after}};
  if (run.seen.round_trip_seconds) object["disturbance"]["round_trip_seconds"] = *run.seen.round_trip_seconds;
  object["started_at"] = run.started_at;
  if (!run.error.empty()) object["error"] = run.error;
  return object.dump();
}

std::string error_json(const identity& who, std::string_view error) {
  json object{{"schema", schema}};
  object.update(to_object(who));
  object["error"] = error;
  return object.dump();
}

std::string to_json(const identity& who) {
  json object = to_object(who);
  object["isa"] = name(best_isa());
  return object.dump();
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

}  // namespace teff::bench
