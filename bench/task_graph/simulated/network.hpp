#pragma once

#include <cstdint>
#include <vector>

#include "cores.hpp"
#include "machine.hpp"

namespace teff::simulated {

/// A message of a timestep.
struct message {
  double sent;
  int from;  ///< ranks
  int to;
  std::size_t input;  ///< its place among the inputs of the timestep
};

/// The time that messages take between the cores of a machine.
class network {
 public:
  network(const machine& on, int ranks, std::uint64_t seed);

  /// Whether messages wait for each other where they leave a node, or another unit.
  [[nodiscard]] bool is_shared() const { return is_shared_; }

  /// When a message arrives that nothing makes wait.
  [[nodiscard]] double arrival(const message& one, std::int64_t bytes) {
    const std::size_t common = level_of(one.from, one.to);
    return one.sent + latency(common, bytes) + (common > 0 ? lateness_of_one() : 0);
  }
  /// When each message of a timestep arrives, by its input. Each leaves the units between its two ends in the
  /// order in which the messages come there.
  void arrivals(std::vector<message>& all, std::int64_t bytes, std::vector<double>& arrived);

  /// The level of the smallest unit that has both ranks.
  [[nodiscard]] std::size_t level_of(int from, int to) const {
    std::size_t found = 0;
    while (found + 1 < levels_.size() && unit(found, from) != unit(found, to)) ++found;
    return found;
  }
  [[nodiscard]] double latency(std::size_t level, std::int64_t bytes) const {
    return levels_[level].latency + static_cast<double>(bytes) * levels_[level].byte;
  }
  /// Of the next message between nodes: seconds, mostly none.
  [[nodiscard]] double lateness_of_one() {
    if (late_.share == 0 || --until_late_ > 0) [[likely]]
      return 0;
    draw_late();
    return random_.exponential(late_.length);
  }

 private:
  [[nodiscard]] std::int32_t unit(std::size_t level, int rank) const {
    return units_[level][static_cast<std::size_t>(rank)];
  }
  void draw_late();

  std::vector<level> levels_;
  std::vector<std::vector<std::int32_t>> units_;  ///< of each level the unit of each rank
  std::vector<std::vector<double>> free_;  ///< of each level the moment from which a unit sends the next
  bool is_shared_;
  lateness late_;
  dice random_;
  double until_late_ = 0;  ///< messages between nodes
};

}  // namespace teff::simulated
