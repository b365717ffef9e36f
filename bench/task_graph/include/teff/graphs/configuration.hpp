#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "teff/bench/failure.hpp"
#include "teff/graphs/kernel.hpp"
#include "teff/graphs/task_graph.hpp"

namespace teff::graphs {

/// The graphs that one run executes side by side, and its options.
struct configuration {
  std::vector<task_graph> graphs;
  std::int64_t nodes = 0;  ///< for the estimate of local dependences; 0: no estimate
  graphs::isa isa = best_isa();
  bool validate = true;
  bool report = false;  ///< print text for people, not a record
  int verbosity = 0;    ///< 1: show the graph, 2: with reverse dependencies
  /// The flags that it was parsed from, without the last two, as a line for parse_configuration: another
  /// process makes the same configuration from it.
  std::string flags;
};

/// Reads the flags of a run. The published Task Bench's flags are taken as they are (-steps 4), and with two
/// dashes. Throws bench::usage_error.
[[nodiscard]] configuration parse_configuration(std::span<const std::string> flags);
/// The same for a line of flags that are separated by blanks.
[[nodiscard]] configuration parse_configuration(const std::string& line);

/// The flags of a run, for people.
[[nodiscard]] std::string configuration_help();

}  // namespace teff::graphs
