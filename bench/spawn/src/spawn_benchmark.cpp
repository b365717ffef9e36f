#include "spawn_benchmark.hpp"

#include <fmt/format.h>

#include "teff/bench/failure.hpp"
#include "teff/spawn/work.hpp"

namespace teff::spawn {
namespace {

bench::benchmark_case case_of(std::string name, std::string title, std::string flags, pattern what,
                              std::string unit) {
  const std::string group(spawn::name(what));
  return {.name = std::move(name),
          .title = std::move(title),
          .flags = fmt::format("-pattern {}{}", group, flags),
          .group = group,
          .own = {{"unit", std::move(unit)}}};
}

}  // namespace

std::string spawn_benchmark::help() const {
  return command_help();
}

std::vector<bench::benchmark_case> spawn_benchmark::cases() const {
  std::vector<bench::benchmark_case> all{
      case_of("serial", "null tasks spawned by one task", "", pattern::serial, "task"),
      case_of("parallel", "null tasks spawned by a parallel loop", "", pattern::parallel, "task"),
      case_of("fib-both", "Fibonacci, both calls of a call are tasks", " -spawn both", pattern::fibonacci,
              "call"),
      case_of("fib-one", "Fibonacci, one call of a call is a task", " -spawn one", pattern::fibonacci,
              "call")};
  for (const tree& each : known_trees()) {
    all.push_back(case_of(fmt::format("tree-{}", each.name),
                          fmt::format("unbalanced tree search, {}", each.name),
                          fmt::format(" -tree {}", each.name), pattern::tree, "node"));
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
