#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "teff/spawn/null_task.hpp"
#include "teff/spawn/tree.hpp"

namespace teff::spawn {

enum class pattern : std::uint8_t { serial, parallel, fibonacci, tree };

/// Which of a call's two children are tasks: both, or one while the other is called.
enum class spawning : std::uint8_t { both, one };

/// One run of a pattern, with its parameters. Parameters of other patterns have no effect.
struct work {
  pattern what = pattern::serial;
  std::int64_t tasks = std::int64_t{1} << 20;  ///< null tasks, of the serial and the parallel spawn
  std::int32_t n = 30;                         ///< of Fibonacci
  spawning children = spawning::both;          ///< of Fibonacci
  spawn::tree tree = *find_tree("T3");         ///< of the tree search
};

/// The results of a run of a pattern. Only what belongs to its pattern is set.
struct result {
  null_counts null_tasks;
  std::int64_t fibonacci = 0;
  tree_counts tree;

  friend bool operator==(const result&, const result&) = default;
};

/// The results that the run has to find: published numbers, or results of plain code.
[[nodiscard]] result expected(const work& of);
/// Units of the pattern's work: null tasks, calls of Fibonacci, nodes of the tree. Each is a task, or a call
/// that its parent makes by itself in the place of a task.
[[nodiscard]] std::int64_t units(const work& of, const result& found);
/// The difference between the found and the expected result; empty if there is none.
[[nodiscard]] std::string difference(const work& of, const result& found, const result& wanted);

/// The flags of a run, parsed.
struct command {
  spawn::work work;
  /// Profile the workers for this much time in timed regions; 0: run once, without a profile.
  double profile_seconds = 0;
};

/// Reads the flags of a run, with one dash or two. Throws bench::usage_error.
[[nodiscard]] command parse_command(std::span<const std::string> flags);
/// The work that a line of flags asks for.
[[nodiscard]] work parse_work(const std::string& line);

/// "serial" and so on, as --pattern takes it.
[[nodiscard]] std::string_view name(pattern of);

/// The flags of a run, for people.
[[nodiscard]] std::string command_help();

}  // namespace teff::spawn
