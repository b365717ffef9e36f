#pragma once

#include <cstdint>

#include "teff/graphs/dependence_table.hpp"
#include "teff/graphs/random.hpp"

namespace teff::graphs {

/// The work that was done, and a checksum of it that does not depend on the order. The counters of workers
/// add up to the run's counters.
struct counters {
  std::int64_t tasks = 0;
  std::int64_t dependencies = 0;  ///< consumed inputs
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
  std::uint64_t checksum = 0;

  constexpr counters& operator+=(const counters& other) {
    tasks += other.tasks;
    dependencies += other.dependencies;
    flops += other.flops;
    bytes += other.bytes;
    checksum += other.checksum;
    return *this;
  }
  friend constexpr bool operator==(const counters&, const counters&) = default;
};

/// The checksum of a run is the sum, modulo 2^64, over its tasks of
///   timestep_weight(timestep) x point_weight(graph, point) x inputs_weight(the points of its inputs).
/// A sum does not depend on the order. Weights are odd and well mixed. A task that ran twice or not at all
/// changes the sum with a probability of about 1 - 2^-60. So does a dependence that was consumed twice, not
/// at all, or in another's place. Only the first factor changes from timestep to timestep: the others are
/// multiplied beforehand.
[[nodiscard]] constexpr std::uint64_t timestep_weight(std::int64_t timestep) {
  return mix(static_cast<std::uint64_t>(timestep) * 0x9e3779b97f4a7c15) | 1;
}

[[nodiscard]] constexpr std::uint64_t point_weight(std::int64_t graph, std::int64_t point) {
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return mix(word(point) * 0xd1b54a32d192ed03 + word(graph) + 1) | 1;
}

[[nodiscard]] inline std::uint64_t inputs_weight(const point_range& inputs) {
  std::uint64_t sum = 0;
  for (const std::int64_t point : inputs) sum += mix(static_cast<std::uint64_t>(point) + 1);
  return 1 + 2 * sum;
}

/// The counters of a valid run of this graph, from its definition alone.
[[nodiscard]] counters expected_counters(const dependence_table& table);

/// Dependences whose two ends share a node, and those that don't, where point p of a graph of width W lives
/// on node p * nodes / W.
struct locality {
  std::int64_t local = 0;
  std::int64_t nonlocal = 0;
};
[[nodiscard]] locality estimate_locality(const dependence_table& table, std::int64_t nodes);

}  // namespace teff::graphs
