#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/graphs/tile_steps.hpp"
#include "teff/programs/kernels/lu.hpp"
#include "teff/programs/ways.hpp"

namespace teff::programs {

/// LU decomposition of a full matrix by blocks, a task a block and step. A block has its last step when the
/// step's number is its row's or column's number.
class lu {
 public:
  static constexpr description about{.name = "lu",
                                     .title = "LU decomposition by 32 x 32 blocks",
                                     .needs = way::graphs,
                                     .unit = "rows of blocks",
                                     .sizes = {4, 24, 40},
                                     .most = 256};

  explicit lu(std::int64_t rows)
      : rows_(rows), steps_(rows, in_order(rows)), blocks_(rows * rows * block_size) {
    reset();
  }

  void reset() {
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t j = 0; j < rows(); ++j) element(i, j) = given(i, j);
  }
  template <class System>
  void run(System& system) {
    system.run_graph(*this);
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(blocks_); }

  [[nodiscard]] std::int64_t tasks() const { return steps_.count(); }
  [[nodiscard]] int indegree(std::int64_t task) const { return count_predecessors(*this, task); }
  void predecessors(std::int64_t task, auto&& visit) const {
    const auto [k, i, j] = steps_[task];
    if (k > 0) visit(steps_.number(k - 1, i, j));
    if (i > k) visit(steps_.number(k, j > k ? i : k, k));
    if (j > k) visit(steps_.number(k, k, i > k ? j : k));
  }
  void successors(std::int64_t task, auto&& visit) const {
    const auto [k, i, j] = steps_[task];
    if (i > k && j > k) return visit(steps_.number(k + 1, i, j));
    for (std::int64_t other = k + 1; other < rows_; ++other) {
      if (j == k) visit(steps_.number(k, i, other));
      if (i == k) visit(steps_.number(k, other, j));
    }
  }
  void execute(std::int64_t task) const {
    const auto [k, i, j] = steps_[task];
    if (i > k && j > k) return lu_inner(block(i, k), block(k, j), block(i, j));
    if (i > k) return lu_below(block(k, k), block(i, k));
    if (j > k) return lu_right(block(k, k), block(k, j));
    lu_diagonal(block(k, k));
  }

  [[nodiscard]] std::int64_t rows() const { return rows_ * lu_block; }
  [[nodiscard]] double at(std::int64_t i, std::int64_t j) const { return element(i, j); }
  /// With a diagonal so large that no pivots are needed.
  [[nodiscard]] double given(std::int64_t i, std::int64_t j) const {
    if (i == j) return static_cast<double>(rows());
    return mixed_share(static_cast<std::uint64_t>(i * rows() + j)) - 0.5;
  }

 private:
  static constexpr std::int64_t block_size = lu_block * lu_block;

  [[nodiscard]] static std::vector<tile_step> in_order(std::int64_t rows) {
    std::vector<tile_step> steps;
    for (std::int32_t k = 0; k < rows; ++k)
      for (std::int32_t i = k; i < rows; ++i)
        for (std::int32_t j = k; j < rows; ++j) steps.push_back({k, i, j});
    // The inner blocks of a step come last, for they need the others.
    std::ranges::sort(steps, {}, [](const tile_step& each) {
      return std::tuple(each.k, each.i > each.k && each.j > each.k, each.i, each.j);
    });
    return steps;
  }
  [[nodiscard]] double* block(std::int64_t i, std::int64_t j) const {
    return blocks_.data() + (i * rows_ + j) * block_size;
  }
  [[nodiscard]] double& element(std::int64_t i, std::int64_t j) const {
    return block(i / lu_block, j / lu_block)[i % lu_block * lu_block + j % lu_block];
  }

  std::int64_t rows_;  ///< of blocks
  tile_steps steps_;
  buffer<double> blocks_;
};

}  // namespace teff::programs
