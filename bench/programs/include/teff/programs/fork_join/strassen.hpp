#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/matrices.hpp"

namespace teff::programs {

/// Strassen's product of matrices, down to small matrices: seven products of quarters, each a task with its
/// own temporaries.
class strassen {
 public:
  static constexpr std::int64_t cut_off = 32;
  static constexpr description about{.name = "strassen",
                                     .title = "Strassen's matrix product, cut off at 32",
                                     .needs = way::fork_join,
                                     .unit = "rows, a power of two",
                                     .sizes = {64, 512, 1024},
                                     .least = cut_off,
                                     .most = 1 << 14,
                                     .power_of_two = true};

  explicit strassen(std::int64_t rows)
      : rows_(rows), a_(rows * rows), b_(rows * rows), product_(rows * rows) {
    for (std::int64_t i = 0; i < rows * rows; ++i) {
      a_[i] = mixed_share(static_cast<std::uint64_t>(2 * i)) - 0.5;
      b_[i] = mixed_share(static_cast<std::uint64_t>(2 * i + 1)) - 0.5;
    }
  }

  template <class System>
  void run(System& system) {
    system.run_tasks([this] {
      multiply<System>({a_.data(), rows_}, {b_.data(), rows_}, {product_.data(), rows_}, rows_);
    });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(product_); }

  [[nodiscard]] const buffer<double>& a() const { return a_; }
  [[nodiscard]] const buffer<double>& b() const { return b_; }
  [[nodiscard]] const buffer<double>& product() const { return product_; }

 private:
  template <class System>
  static void multiply(matrix_view a, matrix_view b, matrix_view product, std::int64_t rows) {
    if (rows <= cut_off) return multiply_block(a, b, product, rows);
    const std::int64_t half = rows / 2;
    std::array<buffer<double>, strassen_products> products;
    System::scope([&](auto& tasks) {
      for (std::size_t i = 0; i < products.size(); ++i)
        tasks.spawn([&a, &b, &products, half, i] { products[i] = multiply_quarters<System>(a, b, half, i); });
    });
    std::array<const double*, strassen_products> found{};
    for (std::size_t i = 0; i < products.size(); ++i) found[i] = products[i].data();
    combine_products(found, product, half);
  }

  /// The i-th of the seven products.
  template <class System>
  [[nodiscard]] static buffer<double> multiply_quarters(matrix_view a, matrix_view b, std::int64_t half,
                                                        std::size_t i) {
    using untouched = buffer<double>::untouched;
    const buffer<double> left(half * half, untouched());
    const buffer<double> right(half * half, untouched());
    buffer<double> product(half * half, untouched());
    add_left_quarters(a, half, i, left.data());
    add_right_quarters(b, half, i, right.data());
    multiply<System>({left.data(), half}, {right.data(), half}, {product.data(), half}, half);
    return product;
  }

  std::int64_t rows_;
  buffer<double> a_;
  buffer<double> b_;
  buffer<double> product_;
};

}  // namespace teff::programs
