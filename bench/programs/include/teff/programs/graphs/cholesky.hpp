#pragma once

#include <cstdint>
#include <vector>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/graphs/tile_steps.hpp"
#include "teff/programs/kernels/tiles.hpp"
#include "teff/programs/ways.hpp"

namespace teff::programs {

/// Cholesky decomposition by tiles, a task a tile and step. Step k of tile (i, j), k <= j <= i, is its
/// decomposition (k = j = i), its solution against the tile (k, k) (k = j), or an update by two tiles of
/// column k.
class cholesky {
 public:
  static constexpr description about{.name = "cholesky",
                                     .title = "Cholesky decomposition by 64 x 64 tiles",
                                     .needs = way::graphs,
                                     .unit = "rows of tiles",
                                     .sizes = {3, 24, 32},
                                     .most = 256};

  explicit cholesky(std::int64_t rows)
      : rows_(rows), steps_(rows, in_order(rows)), tiles_(rows * rows * tile_size) {
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

  [[nodiscard]] std::int64_t tasks() const { return steps_.count(); }
  [[nodiscard]] int indegree(std::int64_t task) const { return count_predecessors(*this, task); }
  void predecessors(std::int64_t task, auto&& visit) const {
    const auto [k, i, j] = steps_[task];
    if (k > 0) visit(steps_.number(k - 1, i, j));
    if (k < j) visit(steps_.number(k, j, k));
    if (k < i && i != j) visit(steps_.number(k, k == j ? k : i, k));
  }
  void successors(std::int64_t task, auto&& visit) const {
    const auto [k, i, j] = steps_[task];
    if (k < j) return visit(steps_.number(k + 1, i, j));
    if (k == i)
      for (std::int64_t below = k + 1; below < rows_; ++below) visit(steps_.number(k, below, k));
    else
      for (std::int64_t other = k + 1; other < rows_; ++other)
        visit(other < i ? steps_.number(k, i, other) : steps_.number(k, other, i));
  }
  void execute(std::int64_t task) const {
    const auto [k, i, j] = steps_[task];
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
  static constexpr std::int64_t tile_size = tile_rows * tile_rows;

  [[nodiscard]] static std::vector<tile_step> in_order(std::int64_t rows) {
    std::vector<tile_step> steps;
    for (std::int32_t k = 0; k < rows; ++k)
      for (std::int32_t j = k; j < rows; ++j)
        for (std::int32_t i = j; i < rows; ++i) steps.push_back({k, i, j});
    return steps;
  }
  [[nodiscard]] double* tile(std::int64_t i, std::int64_t j) const {
    return tiles_.data() + (i * rows_ + j) * tile_size;
  }

  std::int64_t rows_;  ///< of tiles
  tile_steps steps_;
  buffer<double> tiles_;
};

}  // namespace teff::programs
