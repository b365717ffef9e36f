#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/tiles.hpp"

namespace teff::programs {

/// Cholesky decomposition by tiles, a task a tile and step. Step k of tile (i, j), k <= j <= i, is: its own
/// decomposition (k = j = i), the solution below it (k = j), or an update by two tiles of column k.
class cholesky {
 public:
  static constexpr description about{.name = "cholesky",
                                     .title = "Cholesky decomposition by 64 x 64 tiles",
                                     .needs = way::graphs,
                                     .unit = "rows of tiles",
                                     .sizes = {3, 24, 32},
                                     .most = 256};

  explicit cholesky(std::int64_t rows) : rows_(rows), numbers_(static_cast<std::size_t>(rows * rows * rows)) {
    for (std::int64_t k = 0; k < rows; ++k)
      for (std::int64_t j = k; j < rows; ++j)
        for (std::int64_t i = j; i < rows; ++i) {
          numbers_[place(k, i, j)] = static_cast<std::int32_t>(steps_.size());
          steps_.push_back(
              {static_cast<std::int32_t>(k), static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
        }
    tiles_ = buffer<double>(rows * rows * tile_size);
    reset();
  }

  void reset() {
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        for (std::int64_t each = 0; each < tile_size; ++each)
          tile(i, j)[each] = given(i * tile_rows + each % tile_rows, j * tile_rows + each / tile_rows);
  }
  template <class System>
  void run(System& system) {
    system.run_graph(*this);
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(tiles_); }

  [[nodiscard]] std::int64_t tasks() const { return static_cast<std::int64_t>(steps_.size()); }
  [[nodiscard]] int indegree(std::int64_t task) const {
    int count = 0;
    predecessors(task, [&count](std::int64_t) { ++count; });
    return count;
  }
  void predecessors(std::int64_t task, auto&& visit) const {
    const auto [k, i, j] = steps_[static_cast<std::size_t>(task)];
    if (k > 0) visit(number(k - 1, i, j));
    if (k < j) visit(number(k, j, k));
    if (k < i && i != j) visit(number(k, k == j ? k : i, k));
  }
  void successors(std::int64_t task, auto&& visit) const {
    const auto [k, i, j] = steps_[static_cast<std::size_t>(task)];
    if (k < j) return visit(number(k + 1, i, j));
    if (k == i)
      for (std::int64_t below = k + 1; below < rows_; ++below) visit(number(k, below, k));
    else
      for (std::int64_t other = k + 1; other < rows_; ++other)
        visit(other < i ? number(k, i, other) : number(k, other, i));
  }
  void execute(std::int64_t task) const {
    const auto [k, i, j] = steps_[static_cast<std::size_t>(task)];
    if (k < j) return tile_update(tile(i, k), tile(j, k), tile(i, j));
    if (k < i) return tile_solve(tile(k, k), tile(i, k));
    tile_cholesky(tile(k, k));
  }

  [[nodiscard]] std::int64_t rows() const { return rows_ * tile_rows; }
  [[nodiscard]] double at(std::int64_t i, std::int64_t j) const {
    return tile(i / tile_rows, j / tile_rows)[i % tile_rows + j % tile_rows * tile_rows];
  }
  /// Symmetric, with a diagonal that makes it positive.
  [[nodiscard]] double given(std::int64_t i, std::int64_t j) const {
    if (i == j) return static_cast<double>(rows());
    const std::int64_t seed = i < j ? j * rows() + i : i * rows() + j;
    return mixed_share(static_cast<std::uint64_t>(seed)) - 0.5;
  }

 private:
  struct step {
    std::int32_t k;
    std::int32_t i;
    std::int32_t j;
  };
  static constexpr std::int64_t tile_size = tile_rows * tile_rows;

  [[nodiscard]] std::size_t place(std::int64_t k, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>((k * rows_ + i) * rows_ + j);
  }
  [[nodiscard]] std::int64_t number(std::int64_t k, std::int64_t i, std::int64_t j) const {
    return numbers_[place(k, i, j)];
  }
  [[nodiscard]] double* tile(std::int64_t i, std::int64_t j) const {
    return tiles_.data() + (i * rows_ + j) * tile_size;
  }

  std::int64_t rows_;  ///< of tiles
  std::vector<std::int32_t> numbers_;
  std::vector<step> steps_;
  buffer<double> tiles_;
};

}  // namespace teff::programs
