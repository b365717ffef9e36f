#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace teff::graphs::kernels {

/// N of the three N x N matrices that fit `scratch_bytes`: floor(sqrt(scratch_bytes / 24)).
[[nodiscard]] std::int64_t matrix_order(std::int64_t scratch_bytes);

/// Loads OpenBLAS for one thread a call, the first time. Returns why that failed, or nothing.
///
/// A program linked to OpenBLAS starts a thread on each core before main(), and each spins for 0.1 s, right
/// where the first tasks are measured. So it is loaded only where needed, and gets one thread before that.
[[nodiscard]] const std::string& load_blas();

/// C = A * B, the three matrices one after the other in the scratch. Throws std::runtime_error where
/// load_blas() gives a reason.
void multiply_matrices(std::span<std::byte> scratch);

}  // namespace teff::graphs::kernels
