#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/lu.hpp"

namespace teff::programs {

/// LU decomposition of a matrix of blocks of which most are empty. Blocks that fill are allocated by the task
/// that first needs them.
class sparselu {
 public:
  static constexpr description about{.name = "sparselu",
                                     .title = "LU of a sparse matrix of 32 x 32 blocks",
                                     .needs = way::fork_join,
                                     .unit = "rows of blocks",
                                     .sizes = {6, 50, 100},
                                     .most = 1000};

  explicit sparselu(std::int64_t rows) : rows_(rows) { reset(); }

  void reset() {
    blocks_.clear();
    blocks_.resize(static_cast<std::size_t>(rows_ * rows_));
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < rows_; ++j)
        if (is_given(i, j)) at(i, j) = given(i, j);
  }
  template <class System>
  void run(System& system) {
    system.run_tasks([this] {
      for (std::int64_t k = 0; k < rows_; ++k) eliminate<System>(k);
    });
  }
  [[nodiscard]] std::uint64_t checksum() const {
    fingerprint all;
    for (const buffer<double>& each : blocks_) all.add_all(each);
    return all.value();
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] const buffer<double>& block(std::int64_t i, std::int64_t j) const {
    return blocks_[static_cast<std::size_t>(i * rows_ + j)];
  }

 private:
  /// A diagonal, its neighbours, and one block in seven elsewhere.
  [[nodiscard]] bool is_given(std::int64_t i, std::int64_t j) const {
    const bool is_near = i - j <= 1 && j - i <= 1;
    return is_near || mixed(static_cast<std::uint64_t>(i * rows_ + j)) % 7 == 0;
  }
  [[nodiscard]] static buffer<double> given(std::int64_t i, std::int64_t j) {
    buffer<double> values(lu_block * lu_block);
    const auto seed = static_cast<std::uint64_t>(((i << 16) + j) * lu_block * lu_block);
    for (std::int64_t each = 0; each < values.size(); ++each)
      values[each] = mixed_share(seed + static_cast<std::uint64_t>(each)) - 0.5;
    if (i == j)  // large enough that no pivots are needed
      for (std::int64_t each = 0; each < lu_block; ++each) values[each * (lu_block + 1)] += 1000.0;
    return values;
  }

  template <class System>
  void eliminate(std::int64_t k) {
    const double* const diagonal = at(k, k).data();
    lu_diagonal(at(k, k).data());
    System::scope([&](auto& tasks) {
      for (std::int64_t i = k + 1; i < rows_; ++i) {
        if (at(k, i)) tasks.spawn([diagonal, each = at(k, i).data()] { lu_right(diagonal, each); });
        if (at(i, k)) tasks.spawn([diagonal, each = at(i, k).data()] { lu_below(diagonal, each); });
      }
    });
    System::scope([&](auto& tasks) {
      for (std::int64_t i = k + 1; i < rows_; ++i)
        for (std::int64_t j = k + 1; j < rows_; ++j)
          if (at(i, k) && at(k, j)) tasks.spawn([this, i, j, k] { update(i, j, k); });
    });
  }

  void update(std::int64_t i, std::int64_t j, std::int64_t k) {
    buffer<double>& block = at(i, j);
    if (!block) block = buffer<double>(lu_block * lu_block);
    lu_inner(at(i, k).data(), at(k, j).data(), block.data());
  }

  [[nodiscard]] buffer<double>& at(std::int64_t i, std::int64_t j) {
    return blocks_[static_cast<std::size_t>(i * rows_ + j)];
  }

  std::int64_t rows_;
  std::vector<buffer<double>> blocks_;
};

}  // namespace teff::programs
