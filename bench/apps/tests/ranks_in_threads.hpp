#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "teff/apps/residual.hpp"
#include "teff/apps/setting.hpp"

namespace teff::apps {

inline constexpr process_grid one_rank{};
inline constexpr process_grid six_ranks{.down = 2, .across = 3};
inline constexpr process_grid twelve_ranks{.down = 1, .across = 4, .deep = 3};

/// The residual that all ranks of a problem find, each on its own thread.
template <class Problem>
std::vector<double> residuals(std::vector<Problem>& ranks) {
  std::vector<std::span<double>> parts(ranks.size());
  std::vector<double> found(ranks.size());
  std::barrier together(static_cast<std::ptrdiff_t>(ranks.size()));
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    threads.emplace_back([&, rank] {
      found[rank] = ranks[rank].residual([&](std::span<double> mine) {
        parts[rank] = mine;
        together.arrive_and_wait();
        vector sums(mine.size());
        for (const auto& part : parts)
          for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
        together.arrive_and_wait();
        std::ranges::copy(sums, mine.begin());
      });
    });
  threads.clear();  // joins
  return found;
}

/// Each rank of a problem.
template <class Problem>
std::vector<Problem> all_ranks(setting at) {
  std::vector<Problem> ranks;
  for (at.rank = 0; at.rank < at.grid.ranks(); ++at.rank) ranks.emplace_back(at);
  return ranks;
}
template <class Problem>
std::vector<Problem> on_grid(int size, int block, const process_grid& grid,
                             block_sizes sizes = block_sizes::equal) {
  return all_ranks<Problem>(
      {.size = size, .block = block, .sizes = sizes, .grid = grid, .layers = grid.deep});
}

/// Brings a tile from its rank to all others.
template <class Problem, class Matrix>
void spread(const std::vector<Problem>& ranks, const Matrix& matrix_of, int row, int column) {
  const auto owner = static_cast<std::size_t>(ranks.front().at().grid.owner(row, column));
  const auto source = matrix_of(ranks[owner]).at(row, column).elements();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (rank != owner) std::ranges::copy(source, matrix_of(ranks[rank]).at(row, column).elements().begin());
}

}  // namespace teff::apps
