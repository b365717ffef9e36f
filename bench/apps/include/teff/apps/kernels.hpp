#pragma once

#include <string>

#include "teff/apps/tiled_matrix.hpp"

/// The computations in the tasks of all systems, by BLAS and LAPACK on the calling thread.
namespace teff::apps::kernels {

/// C := A B, or C := C + A B.
void multiply(const tile& a, const tile& b, const tile& c, bool adds);
/// C := C + A.
void add(const tile& a, const tile& c);
/// C := C - A B^T.
void subtract_product(const tile& a, const tile& b, const tile& c);
/// C := C - A A^T, its lower triangle.
void subtract_square(const tile& a, const tile& c);
/// A := A L^-T, of a lower triangle L.
void solve(const tile& l, const tile& a);
/// A := L, where A = L L^T; of A and L the lower triangle. Throws std::runtime_error if A is not positive
/// definite.
void factorise(const tile& a);

/// Why there is no library to call; empty if it is here. Without it, no other function may be called but
/// use_threads().
[[nodiscard]] std::string missing();
/// How many threads a call may use: one, unless a system is the library's own threads. Returns how many it
/// has.
int use_threads(int count);
/// The library's name and release.
[[nodiscard]] std::string version();

/// FLOP/s of the calling thread in one multiplication of some size, the best of a few.
[[nodiscard]] double measure_core();

}  // namespace teff::apps::kernels
