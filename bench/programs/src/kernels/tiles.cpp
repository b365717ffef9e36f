#include "teff/programs/kernels/tiles.hpp"

#include <cmath>

namespace teff::programs {
namespace {

constexpr std::int64_t rows = tile_rows;

}  // namespace

[[gnu::noinline, gnu::aligned(64)]] void tile_cholesky(double* tile) {
  for (std::int64_t k = 0; k < rows; ++k) {
    double* const column = tile + k * rows;
    column[k] = std::sqrt(column[k]);
    for (std::int64_t i = k + 1; i < rows; ++i) column[i] /= column[k];
    for (std::int64_t j = k + 1; j < rows; ++j)
      for (std::int64_t i = j; i < rows; ++i) tile[j * rows + i] -= column[i] * column[j];
  }
  for (std::int64_t j = 1; j < rows; ++j)
    for (std::int64_t i = 0; i < j; ++i) tile[j * rows + i] = 0;
}

[[gnu::noinline, gnu::aligned(64)]] void tile_solve(const double* diagonal, double* __restrict tile) {
  for (std::int64_t k = 0; k < rows; ++k) {
    double* const column = tile + k * rows;
    const double pivot = diagonal[k * rows + k];
    for (std::int64_t i = 0; i < rows; ++i) column[i] /= pivot;
    for (std::int64_t j = k + 1; j < rows; ++j) {
      const double factor = diagonal[k * rows + j];
      for (std::int64_t i = 0; i < rows; ++i) tile[j * rows + i] -= factor * column[i];
    }
  }
}

[[gnu::noinline, gnu::aligned(64)]] void tile_update(const double* a, const double* b,
                                                     double* __restrict tile) {
  for (std::int64_t j = 0; j < rows; ++j) {
    double* const column = tile + j * rows;
    for (std::int64_t k = 0; k < rows; k += 4) {  // four at a time: the column is read and written less often
      const double f0 = b[k * rows + j];
      const double f1 = b[(k + 1) * rows + j];
      const double f2 = b[(k + 2) * rows + j];
      const double f3 = b[(k + 3) * rows + j];
      const double* const from = a + k * rows;
      for (std::int64_t i = 0; i < rows; ++i)
        column[i] -= f0 * from[i] + f1 * from[rows + i] + f2 * from[2 * rows + i] + f3 * from[3 * rows + i];
    }
  }
}

}  // namespace teff::programs
