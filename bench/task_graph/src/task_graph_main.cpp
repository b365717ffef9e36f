// The description of the graphs in the flags, as text in the published benchmark's wording or as JSON;
// nothing runs.
#include <fmt/format.h>

#include "task_graph_benchmark.hpp"
#include "teff/bench/session.hpp"

int main(int argc, char** argv) try {
  teff::bench::flags words(argv + 1, argv + argc);
  const bool json = std::erase(words, "--json") > 0;
  const teff::bench::request asked = teff::bench::read_request(words);
  if (teff::bench::answered_without_system(teff::graphs::task_graph_benchmark(), asked)) return 0;
  teff::graphs::task_graph_benchmark().check(asked.run, false);
  const teff::graphs::configuration work = teff::graphs::parse_configuration(asked.run);
  fmt::print("{}\n", json ? teff::graphs::graph_json(work) : teff::graphs::describe(work));
  return 0;
} catch (const std::exception& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return 2;
}
