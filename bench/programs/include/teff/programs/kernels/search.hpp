#pragma once

#include <array>
#include <cstdint>

namespace teff::programs {

inline constexpr int most_queens = 16;
using board = std::array<std::int8_t, most_queens>;  ///< the column of each row's queen

/// Whether a queen there is attacked by none of the rows above.
[[nodiscard]] bool is_safe(const board& placed, int row, int column);

struct knapsack_item {
  std::int64_t value;
  std::int64_t weight;
};

/// A bound on the value that this capacity can still hold, if the items from here on are no better than this
/// one.
[[nodiscard]] double best_hope(const knapsack_item& next, std::int64_t capacity, std::int64_t value);

/// A task that does next to nothing, and can be seen to have run.
void touch(std::uint8_t* cell);

}  // namespace teff::programs
