#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "teff/spawn/null_task.hpp"
#include "teff/spawn/tree.hpp"

namespace teff::patterns {

enum class pattern : std::uint8_t { serial, parallel, fibonacci, tree };

/// Which of a call's two children are tasks: both, or one while the other is called.
enum class spawning : std::uint8_t { both, one };

/// One run of a pattern, with its parameters. What does not concern the pattern is not looked at.
struct work {
  pattern what = pattern::serial;
  std::int64_t tasks = std::int64_t{1} << 20;  ///< null tasks, of the serial and the parallel spawn
  std::int32_t n = 30;                         ///< of Fibonacci
  spawning children = spawning::both;          ///< of Fibonacci
  patterns::tree tree = *find_tree("T3");      ///< of the tree search
};

/// What a run of a pattern has found. Only what belongs to its pattern is set.
struct result {
  null_tally null_tasks;
  std::int64_t fibonacci = 0;
  tree_counts tree;

  friend bool operator==(const result&, const result&) = default;
};

/// What the run has to find: published, or computed by plain code.
[[nodiscard]] result expected(const work& of);
/// Units of the pattern's work: null tasks, calls of Fibonacci, nodes of the tree. Each is a task, or would
/// be one, but for a call that a parent makes by itself.
[[nodiscard]] std::int64_t units(const work& of, const result& found);
/// Why what was found is not what had to be found, or nothing.
[[nodiscard]] std::string difference(const work& of, const result& found, const result& wanted);

/// What a program of the spawn patterns is asked to do.
struct command {
  enum class mode : std::uint8_t { run, profile, batch, identity, help };
  mode what = mode::run;
  patterns::work work;
  std::optional<int> workers;  ///< default: the cores that this process may use
  double profile_seconds = 0;  ///< in mode::profile: of timed regions, at least
  std::string help;            ///< in mode::help
};

/// Reads flags as they stand on a command line, without the program's name. Throws bench::usage_error.
[[nodiscard]] command parse_command(std::span<const std::string> flags);
/// Reads a line of batch mode: flags separated by blanks. Throws bench::usage_error.
[[nodiscard]] work parse_work(const std::string& line);

}  // namespace teff::patterns
