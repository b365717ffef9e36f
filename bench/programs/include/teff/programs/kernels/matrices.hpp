#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace teff::programs {

/// Rows that lie `stride` elements apart.
struct matrix_view {
  double* data;
  std::int64_t stride;

  [[nodiscard]] matrix_view quarter(std::int64_t half, int down, int right) const {
    return {data + down * half * stride + right * half, stride};
  }
};

inline constexpr std::size_t strassen_products = 7;

void multiply_block(matrix_view a, matrix_view b, matrix_view product, std::int64_t rows);
/// The left factor of a product: a quarter, or the sum or difference of two.
void add_left_quarters(matrix_view a, std::int64_t half, std::size_t product, double* sum);
void add_right_quarters(matrix_view b, std::int64_t half, std::size_t product, double* sum);
void combine_products(const std::array<const double*, strassen_products>& products, matrix_view result,
                      std::int64_t half);

}  // namespace teff::programs
