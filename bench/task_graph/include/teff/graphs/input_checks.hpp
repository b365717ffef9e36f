#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "teff/graphs/dependence_table.hpp"

namespace teff::graphs {

/// The inputs that a graph's tasks must get, computed before the timed region. Where the graph's width never
/// changes, there is a row for each point of each dependence set. Memory is O(sets x width). The table has to
/// outlive it.
class input_checks {
 public:
  struct row {
    std::span<const interval> points;  ///< of the inputs, in their order
    std::size_t count = 0;             ///< of the inputs
    std::uint64_t weight = 0;          ///< of the task in the checksum, but for its timestep's factor
  };

  explicit input_checks(const dependence_table& table);

  /// The row of a task. Nothing where there is no such task, at the first timestep (its tasks have no
  /// inputs), and in graphs of a varying width.
  [[nodiscard]] const row* find(std::int64_t timestep, std::int64_t point) const {
    if (static_cast<std::uint64_t>(timestep) - 1 >= later_timesteps_ ||
        static_cast<std::uint64_t>(point) >= width_) [[unlikely]]
      return nullptr;
    return &rows_[static_cast<std::uint64_t>(table_->set_at(timestep)) * width_ +
                  static_cast<std::uint64_t>(point)];
  }

 private:
  const dependence_table* table_;
  std::uint64_t later_timesteps_ = 0;  ///< those that have rows
  std::uint64_t width_;
  std::vector<row> rows_;
};

}  // namespace teff::graphs
