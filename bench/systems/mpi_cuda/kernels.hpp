// The interface between the adapters and the GPU, in words that nvcc and the adapters' compiler both read.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace teff::gpu {

/// The result of a task that the kernel leaves for the host to check.
struct result {
  double value;      ///< of the first thread's first value, or of the last copy's first double
  std::int32_t odd;  ///< not 0 where some thread's product is none that the kernel can give
};

/// A task, as a kernel gets it. Its output and result lie in memory of the host that the GPU writes to.
struct task {
  std::int64_t timestep;
  std::int64_t point;
  std::int64_t iterations;
  std::int64_t* output;  ///< pairs of timestep and point
  std::int64_t pairs;
  gpu::result* result;
};

/// The scratch of memory_bound, cut into windows of two halves, and the first of them that a task copies.
struct windows {
  double* scratch;
  std::int64_t samples;
  std::int64_t pairs;   ///< of doubles in a window
  std::int64_t larger;  ///< windows with one pair more, the first ones
  std::int64_t first;   ///< that the task's first iteration copies
};

inline constexpr int values = 64;  ///< that a thread of compute_bound keeps in registers
inline constexpr double first_start_value = -63.5 / 64;  ///< of the first of them; the next are 1/64 apart
inline constexpr int compute_block = 128;                ///< threads
inline constexpr int copy_block = 256;

/// The most threads that share the iterations of a task of compute_bound: as many as fit on the GPU at once.
cudaError_t most_compute_threads(int processors, std::int64_t& threads);

/// How many do: one for each iteration, in whole blocks. The first of them has no fewer than any other.
constexpr std::int64_t compute_threads(std::int64_t iterations, std::int64_t most) {
  const std::int64_t wanted = iterations < most ? iterations : most;
  return wanted < 1 ? compute_block : (wanted + compute_block - 1) / compute_block * compute_block;
}

/// A = A * A + A on 64 doubles, then the product of all. Each thread has 64 doubles, and an equal part of the
/// task's iterations.
cudaError_t launch_compute(const task& it, std::int64_t most_threads, cudaStream_t stream);

/// Copies the first half of a window onto the second, in each iteration the next window's.
cudaError_t launch_copy(const task& it, const windows& cut, int processors, cudaStream_t stream);

/// Fills the scratch with the doubles that prepare_scratch of the cores' kernels gives.
cudaError_t launch_fill(double* scratch, std::int64_t count, cudaStream_t stream);

/// The i-th of the doubles that launch_fill writes.
__host__ __device__ constexpr double filled(std::int64_t i) {
  return 0.5 + static_cast<double>(i % 127) / 256;
}

}  // namespace teff::gpu
