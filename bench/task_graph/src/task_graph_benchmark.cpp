#include "task_graph_benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "teff/bench/memory.hpp"
#include "teff/graphs/extent.hpp"

namespace teff::graphs {

std::vector<bench::benchmark_case> task_graph_benchmark::cases() const {
  std::vector<bench::benchmark_case> all;
  for (const pattern& each : patterns())
    all.push_back({.name = std::string(each.name),
                   .title = std::string(each.summary),
                   .flags = fmt::format("-type {}", each.name),
                   .by_default = each.name == "stencil_1d",
                   .group = "patterns",
                   .own = {{"uses_radix", each.uses_radix},
                           {"uses_period", each.uses_period},
                           {"uses_fraction", each.uses_fraction}}});
  return all;
}

bench::json task_graph_benchmark::further_identity() const {
  return {{"isa", graphs::name(best_isa())}};
}

void task_graph_benchmark::check(const bench::flags& of_run, bool in_batch) const {
  const configuration work = parse_configuration(of_run);
  if (in_batch && (work.report || work.verbosity > 0))
    throw bench::usage_error(
        "a line of a batch is answered by a record: --report and --verbose belong on the command line");
  if (const std::string reason = beyond_reach(work, static_cast<double>(bench::memory_here()));
      !reason.empty())
    throw bench::usage_error(reason);
}

std::string task_graph_benchmark::introduction(const bench::flags& of_run) const {
  const configuration work = parse_configuration(of_run);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (const std::string note = long_run(work, cores); !note.empty()) fmt::print(stderr, "note: {}\n", note);
  return work.verbosity > 0 ? describe(work) : std::string();
}

bench::answer to_answer(const record& run) {
  return {to_record(run), run.work.report ? to_report(run) : std::string()};
}

}  // namespace teff::graphs
