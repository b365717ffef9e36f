// What flags describe, as text in the published benchmark's wording or as JSON; nothing is run.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "teff/graphs/configuration.hpp"
#include "teff/graphs/record.hpp"

int main(int argc, char** argv) try {
  std::vector<std::string> flags(argv + 1, argv + argc);
  const bool json = std::erase(flags, "--json") > 0;
  const teff::bench::command asked = teff::bench::parse_command(flags);
  if (asked.what == teff::bench::command::mode::help) {
    fmt::print("{}", asked.help);
  } else {
    fmt::print("{}\n", json ? teff::bench::graph_json(asked.work) : teff::bench::describe(asked.work));
  }
  return 0;
} catch (const std::exception& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return 2;
}
