#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "teff/graphs/kernel.hpp"
#include "teff/graphs/task_graph.hpp"

namespace teff::bench {

/// Bad input. what() is one line that names the value, the rule and the way out.
class usage_error : public std::invalid_argument {
  using invalid_argument::invalid_argument;
};

/// What one run executes: the graphs, side by side, and how.
struct configuration {
  std::vector<task_graph> graphs;
  std::int64_t nodes = 0;  ///< for the estimate of local dependences; 0: no estimate
  bench::isa isa = best_isa();
  bool validate = true;
  int verbosity = 0;  ///< 1: show the graph, 2: with reverse dependencies
  /// What it was parsed from, as a line that parse_configuration takes: another process gets the same from
  /// it.
  std::string flags;
};

/// What a bench program is asked to do.
struct command {
  enum class mode : std::uint8_t { run, batch, identity, help };
  mode what = mode::run;
  configuration work;
  std::optional<int> workers;  ///< default: the cores that this process may use
  bool report = false;         ///< text for people in the place of a record
  std::string help;            ///< in mode::help
};

/// Reads flags as they stand on a command line, without the program's name. The published Task Bench's flags
/// are taken as they are (-steps 4), and with two dashes. Throws usage_error.
[[nodiscard]] command parse_command(std::span<const std::string> flags);

/// Reads a line of batch mode: flags separated by blanks. Throws usage_error.
[[nodiscard]] configuration parse_configuration(const std::string& line);

}  // namespace teff::bench
