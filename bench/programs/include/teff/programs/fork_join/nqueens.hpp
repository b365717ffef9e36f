#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "teff/programs/description.hpp"
#include "teff/programs/kernels/search.hpp"

namespace teff::programs {

/// Counts the ways in which n queens fit on a board. Each safe square of a row is a task; there is no
/// cut-off.
class nqueens {
 public:
  static constexpr description about{.name = "nqueens",
                                     .title = "n queens, a task a square",
                                     .needs = way::fork_join,
                                     .unit = "queens",
                                     .sizes = {6, 11, 13},
                                     .most = most_queens};

  explicit nqueens(std::int64_t queens) : queens_(static_cast<int>(queens)) {}

  template <class System>
  void run(System& system) {
    system.run_tasks([this] { solutions_ = count<System>(board(), 0); });
  }
  [[nodiscard]] std::uint64_t checksum() const { return static_cast<std::uint64_t>(solutions_); }

 private:
  template <class System>
  [[nodiscard]] std::int64_t count(const board& placed, int row) const {
    if (row == queens_) return 1;
    std::array<std::int64_t, most_queens> found{};
    System::scope([&](auto& tasks) {
      for (int column = 0; column < queens_; ++column)
        if (is_safe(placed, row, column))
          tasks.spawn([this, &placed, &found, row, column] {
            board next = placed;
            next[static_cast<std::size_t>(row)] = static_cast<std::int8_t>(column);
            found[static_cast<std::size_t>(column)] = count<System>(next, row + 1);
          });
    });
    return std::accumulate(found.begin(), found.end(), std::int64_t{0});
  }

  int queens_;
  std::int64_t solutions_ = 0;
};

}  // namespace teff::programs
