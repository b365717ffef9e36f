#include "teff/programs/kernels/matrices.hpp"

#include <algorithm>

namespace teff::programs {
namespace {

/// A factor: one quarter, plus or minus another one where there is one.
struct factor {
  int quarter;
  int other;  ///< -1: none
  double sign;
};
constexpr int none = -1;
constexpr std::array<factor, strassen_products> left{
    {{0, 3, 1}, {2, 3, 1}, {0, none, 1}, {3, none, 1}, {0, 1, 1}, {2, 0, -1}, {1, 3, -1}}};
constexpr std::array<factor, strassen_products> right{
    {{0, 3, 1}, {0, none, 1}, {1, 3, -1}, {2, 0, -1}, {3, none, 1}, {0, 1, 1}, {2, 3, 1}}};

void add(matrix_view of, std::int64_t half, factor what, double* sum) {
  const matrix_view first = of.quarter(half, what.quarter / 2, what.quarter % 2);
  if (what.other == none) {
    for (std::int64_t i = 0; i < half; ++i) std::copy_n(first.data + i * first.stride, half, sum + i * half);
    return;
  }
  const matrix_view second = of.quarter(half, what.other / 2, what.other % 2);
  for (std::int64_t i = 0; i < half; ++i)
    for (std::int64_t j = 0; j < half; ++j)
      sum[i * half + j] = first.data[i * first.stride + j] + what.sign * second.data[i * second.stride + j];
}

}  // namespace

[[gnu::noinline, gnu::aligned(64)]] void multiply_block(matrix_view a, matrix_view b, matrix_view product,
                                                        std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double* __restrict const row = product.data + i * product.stride;
    std::fill_n(row, rows, 0.0);
    for (std::int64_t k = 0; k < rows; ++k) {
      const double each = a.data[i * a.stride + k];
      const double* const other = b.data + k * b.stride;
      for (std::int64_t j = 0; j < rows; ++j) row[j] += each * other[j];
    }
  }
}

[[gnu::noinline, gnu::aligned(64)]] void add_left_quarters(matrix_view a, std::int64_t half,
                                                           std::size_t product, double* sum) {
  add(a, half, left[product], sum);
}

[[gnu::noinline, gnu::aligned(64)]] void add_right_quarters(matrix_view b, std::int64_t half,
                                                            std::size_t product, double* sum) {
  add(b, half, right[product], sum);
}

[[gnu::noinline, gnu::aligned(64)]] void combine_products(
    const std::array<const double*, strassen_products>& products, matrix_view result, std::int64_t half) {
  const auto [m1, m2, m3, m4, m5, m6, m7] = products;
  for (std::int64_t i = 0; i < half; ++i) {
    double* const upper = result.data + i * result.stride;
    double* const lower = upper + half * result.stride;
    for (std::int64_t j = 0, k = i * half; j < half; ++j, ++k) {
      upper[j] = m1[k] + m4[k] - m5[k] + m7[k];
      upper[half + j] = m3[k] + m5[k];
      lower[j] = m2[k] + m4[k];
      lower[half + j] = m1[k] - m2[k] + m3[k] + m6[k];
    }
  }
}

}  // namespace teff::programs
