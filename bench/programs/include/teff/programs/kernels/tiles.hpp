#pragma once

#include <cstdint>

namespace teff::programs {

inline constexpr std::int64_t tile_rows = 64;  ///< of a tile, whose elements lie column by column

/// The four steps of a Cholesky decomposition by tiles.
void tile_cholesky(double* tile);                       ///< on the diagonal; its upper part becomes zero
void tile_solve(const double* diagonal, double* tile);  ///< below the diagonal
void tile_update(const double* a, const double* b, double* tile);  ///< tile -= a * transposed b

}  // namespace teff::programs
