#include "teff/graphs/extent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "teff/graphs/input_checks.hpp"

namespace teff::graphs {
namespace {

constexpr double most_tasks = 1e15;      // 58 days, were each a nanosecond on 200 cores
constexpr double quickest_task = 10e-9;  // [s] that a task is checked and its output written
constexpr double best_flops = 2e11;      // of a core, per second
constexpr double best_bandwidth = 1e11;  // of a core [bytes / s]
constexpr double worth_saying = 30.0;    // [s]
constexpr double gigabyte = 1e9;

double tasks(const task_graph& graph) {
  return static_cast<double>(graph.steps) * static_cast<double>(graph.width);
}

double table_bytes(const task_graph& graph) {
  const double rows = static_cast<double>(graph.dependence_sets()) * static_cast<double>(graph.width);
  return rows * static_cast<double>(2 * sizeof(std::size_t) + sizeof(input_checks::row));
}

double output_bytes(const task_graph& graph) {
  const double timesteps = graph.steps > 1 ? 2 : 1;
  return timesteps * static_cast<double>(graph.width) * static_cast<double>(graph.output_bytes);
}

double work_seconds(const task_graph& graph) {
  const kernel& each = graph.kernel;
  const double flops = static_cast<double>(each.flops(each.iterations, graph.scratch_bytes));
  const double bytes = static_cast<double>(each.bytes(each.iterations, graph.scratch_bytes));
  return std::max({quickest_task, flops / best_flops, bytes / best_bandwidth});
}

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} minutes", seconds / 60);
  if (seconds < 48 * 3600.0) return fmt::format("{:.0f} hours", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

/// The flag that makes most of the memory, with its value.
std::string greatest_flag(const configuration& work) {
  double most = -1;
  std::string flag;
  const auto consider = [&](double bytes, std::string_view name, std::int64_t value) {
    if (bytes <= most) return;
    most = bytes;
    flag = fmt::format("-{} {}", name, value);
  };
  for (const task_graph& graph : work.graphs) {
    const bool by_period = graph.dependence_sets() > graph.width;
    consider(table_bytes(graph), by_period ? "period" : "width", by_period ? graph.period : graph.width);
    const bool by_output = graph.output_bytes > graph.width;
    consider(output_bytes(graph), by_output ? "output" : "width",
             by_output ? graph.output_bytes : graph.width);
    consider(static_cast<double>(graph.scratch_bytes), "scratch", graph.scratch_bytes);
  }
  return flag;
}

}  // namespace

double least_memory(const configuration& work) {
  double bytes = 0;
  double scratch = 0;
  for (const task_graph& graph : work.graphs) {
    bytes += table_bytes(graph) + output_bytes(graph);
    scratch = std::max(scratch, static_cast<double>(graph.scratch_bytes));
  }
  return bytes + scratch;
}

double least_seconds(const configuration& work, int cores) {
  double seconds = 0;
  for (const task_graph& graph : work.graphs) seconds += tasks(graph) * work_seconds(graph);
  return seconds / cores;
}

std::string beyond_reach(const configuration& work, double memory) {
  for (const task_graph& graph : work.graphs)
    if (tasks(graph) > most_tasks)
      return fmt::format(
          "-steps {} -width {}: a graph has at most 10^15 tasks; give fewer timesteps or points", graph.steps,
          graph.width);
  const double needed = least_memory(work);
  if (needed <= memory) return {};
  return fmt::format("{}: the graph takes at least {:.3g} GB of memory, and there are {:.3g} GB; give less",
                     greatest_flag(work), needed / gigabyte, memory / gigabyte);
}

std::string long_run(const configuration& work, int cores) {
  const double seconds = least_seconds(work, cores);
  if (seconds < worth_saying) return {};
  double all = 0;
  for (const task_graph& graph : work.graphs) all += tasks(graph);
  return fmt::format("{:.3g} tasks take at least {} on {} core{}; Ctrl-C ends the run", all,
                     duration(seconds), cores, cores == 1 ? "" : "s");
}

}  // namespace teff::graphs
