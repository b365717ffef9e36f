#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace teff::simulated {

/// Nodes that are equally far from each other: a node, a group of a dragonfly, a switch of a fat tree.
struct level {
  std::int64_t nodes = 1;  ///< that one unit of this level has. The last level has all nodes
  double latency = 0;      ///< of a message between two cores whose smallest unit is of this level [s]
  double byte = 0;         ///< the time of each byte of such a message [s]
  double gap = 0;          ///< the time between two messages that leave one unit [s]
  double shared_byte = 0;  ///< the time of each byte of all messages that leave one unit [s]
};

/// Interruptions of a core by its operating system.
struct detours {
  double rate = 0;    ///< a second and node
  double length = 0;  ///< of one, in the mean [s]; exponential
};

/// Messages between nodes that come late.
struct lateness {
  double share = 0;   ///< of them
  double length = 0;  ///< that one is late, in the mean [s]; exponential
};

/// A cluster, and what a system costs on it. Times are in seconds.
struct machine {
  std::string name;
  std::string system = "simulated";
  int cores = 1;    ///< of a node: each has a rank
  double flop = 0;  ///< of a floating-point operation on a core
  double byte = 0;  ///< of a byte of memory, for a core beside busy ones

  double task = 0;          ///< a task's own overhead
  double dependence = 0;    ///< of an input that the rank has
  double message = 0;       ///< CPU to send one and to receive one: each rank has half of it
  double message_byte = 0;  ///< of each byte of one

  std::vector<level> levels{{}};
  std::vector<detours> noise;
  lateness late;
  double jitter = 0;  ///< of a task, in the mean; exponential

  bool is_peak = false;  ///< the ceiling: nothing but the work of the tasks
  std::optional<std::uint64_t> seed;
};

/// Reads an object of JSON with these names. Throws bench::usage_error for a name that is none of them.
[[nodiscard]] machine read_machine(const std::string& text);

}  // namespace teff::simulated
