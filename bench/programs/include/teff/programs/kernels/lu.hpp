#pragma once

#include <cstdint>

namespace teff::programs {

inline constexpr std::int64_t lu_block = 32;  ///< rows of a block, whose elements lie row by row

/// The four steps of an LU decomposition by blocks, without pivots.
void lu_diagonal(double* block);
void lu_right(const double* diagonal, double* block);  ///< a block to the right of the diagonal
void lu_below(const double* diagonal, double* block);  ///< a block below it
void lu_inner(const double* below, const double* right, double* block);  ///< all others

}  // namespace teff::programs
