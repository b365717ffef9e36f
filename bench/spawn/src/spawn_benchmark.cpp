#include "spawn_benchmark.hpp"

#include <fmt/format.h>

#include "teff/bench/failure.hpp"
#include "teff/spawn/work.hpp"

namespace teff::spawn {
namespace {

double count_units(const std::string& flags) {
  const work of = parse_work(flags);
  return static_cast<double>(units(of, expected(of)));
}

/// `small` are the flags of a run of few tasks, which takes no system long. The case itself takes about
/// `small_times` as long.
bench::benchmark_case case_of(std::string name, std::string title, std::string_view flags,
                              std::string_view small, pattern what, std::string unit) {
  const std::string group(spawn::name(what));
  const std::string whole = fmt::format("-pattern {}{}", group, flags);
  const std::string few = fmt::format("-pattern {}{}", group, small);
  const double times = count_units(whole) / count_units(few);
  return {.name = std::move(name),
          .title = std::move(title),
          .flags = whole,
          .group = group,
          .own = {{"unit", std::move(unit)}, {"small", few}, {"small_times", times}}};
}

}  // namespace

std::string spawn_benchmark::help() const {
  return command_help();
}

std::vector<bench::benchmark_case> spawn_benchmark::cases() const {
  std::vector<bench::benchmark_case> all{
      case_of("serial", "null tasks spawned by one task", "", " -tasks 16384", pattern::serial, "task"),
      case_of("parallel", "null tasks spawned by a parallel loop", "", " -tasks 16384", pattern::parallel,
              "task"),
      case_of("fib-both", "Fibonacci, both calls of a call are tasks", " -spawn both", " -spawn both -n 20",
              pattern::fibonacci, "call"),
      case_of("fib-one", "Fibonacci, one call of a call is a task", " -spawn one", " -spawn one -n 20",
              pattern::fibonacci, "call")};
  for (const tree& each : known_trees()) {
    all.push_back(case_of(fmt::format("tree-{}", each.name),
                          fmt::format("unbalanced tree search, {}", each.name),
                          fmt::format(" -tree {}", each.name), " -tree T1 -depth 7", pattern::tree, "node"));
    all.back().by_default = each.name == work().tree.name;
    all.back().own["tree"] = each.name;
  }
  return all;
}

void spawn_benchmark::check(const bench::flags& of_run, bool in_batch) const {
  if (parse_command(of_run).profile_seconds > 0 && in_batch)
    throw bench::usage_error(
        "a line of a batch is answered by a record: --profile belongs on the command line");
}

}  // namespace teff::spawn
