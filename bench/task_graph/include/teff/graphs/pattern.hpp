#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "teff/graphs/interval.hpp"

namespace teff::graphs {

struct task_graph;

/// A pattern of dependence: everything that a task graph asks of its shape, as functions of the graph's
/// parameters. Source: Slaughter et al., "Task Bench", SC 2020, Tables 1 and 2, and its public reference
/// implementation. All of `patterns()` are defined in pattern.cpp; adding one touches nothing else.
///
/// A *dependence set* is one of the shapes that a timestep of a graph can have; there are finitely many.
/// Points of dependence set s at timestep t depend on points at t - 1. Patterns answer for unlimited
/// timesteps: the graph clips their answer to the points that exist at t - 1 (or t + 1).
struct pattern {
  std::string_view name;
  std::string_view summary;
  bool uses_radix = false;
  bool uses_period = false;
  bool uses_fraction = false;
  bool varying_width = false;  ///< points() depends on the timestep

  /// The points that exist at a timestep, within [0, width).
  interval (*points)(const task_graph&, std::int64_t timestep);
  /// How many dependence sets there are, at least 1.
  std::int64_t (*sets)(const task_graph&);
  /// The dependence set of timestep >= 0. Where the width is steady, they come round in a cycle: timesteps
  /// t and t + sets have the same one.
  std::int64_t (*set_at)(const task_graph&, std::int64_t timestep);
  /// The points at t - 1 that `point` at t depends on; each point once. O(radix), no allocation.
  void (*dependencies)(const task_graph&, std::int64_t set, std::int64_t point, const interval_sink&);
  /// The points at t + 1 that depend on `point` at t, where t + 1 has dependence set `set`.
  void (*reverse_dependencies)(const task_graph&, std::int64_t set, std::int64_t point, const interval_sink&);
  /// Why the graph's parameters don't fit this pattern (value, rule, way out), or an empty string.
  std::string (*check)(const task_graph&);
};

[[nodiscard]] std::span<const pattern> patterns();

/// The pattern of this name, or nullptr.
[[nodiscard]] const pattern* find_pattern(std::string_view name);

}  // namespace teff::graphs
