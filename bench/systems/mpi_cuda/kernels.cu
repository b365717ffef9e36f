// The kernels of tasks on a GPU. A thread does what a core does: 64 values in its registers, so that each
// processor of the GPU always has independent operations to start.
#include <algorithm>

#include "kernels.hpp"

namespace teff::gpu {
namespace {

constexpr std::int64_t most_blocks = 65535;

/// Writes the task's name all over its output. Only one block of a kernel does.
__device__ void write_name(const task& it) {
  for (std::int64_t i = threadIdx.x; i < it.pairs; i += blockDim.x) {
    it.output[2 * i] = it.timestep;
    it.output[2 * i + 1] = it.point;
  }
}

__device__ double start_value(int index) {
  return first_start_value + index / 64.0;
}

/// Values stay in (-1, 0), nearer to 0 with each iteration. So their product is positive, or 0 if it is too
/// small for a double.
__global__ void __launch_bounds__(compute_block) compute(task it) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t share = it.iterations / threads + (thread < it.iterations % threads ? 1 : 0);
  double a[values];
#pragma unroll
  for (int i = 0; i < values; ++i) a[i] = start_value(i);
  for (std::int64_t left = share; left > 0; --left) {
#pragma unroll
    for (int i = 0; i < values; ++i) a[i] = fma(a[i], a[i], a[i]);
  }
  double product = 1;
#pragma unroll
  for (int i = 0; i < values; ++i) product *= a[i];
  if (!(product >= 0)) it.result->odd = 1;
  if (thread == 0) it.result->value = a[0];
  if (blockIdx.x == 0) write_name(it);
}

/// Blocks of a row of the grid share a window, rows share the iterations.
__global__ void __launch_bounds__(copy_block) copy(task it, windows cut) {
  for (std::int64_t k = blockIdx.y; k < it.iterations; k += gridDim.y) {
    const std::int64_t sample = (cut.first + k) % cut.samples;
    const std::int64_t count = cut.pairs + (sample < cut.larger ? 1 : 0);
    const double* const from =
        cut.scratch + 2 * (sample * cut.pairs + (sample < cut.larger ? sample : cut.larger));
    double* const to = cut.scratch + (from - cut.scratch) + count;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const bool is_last = i == 0 && k == it.iterations - 1;
    for (; i < count; i += step) to[i] = from[i];
    if (is_last) it.result->value = to[0];
  }
  if (blockIdx.x == 0 && blockIdx.y == 0) write_name(it);
}

__global__ void fill(double* scratch, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    scratch[i] = filled(i);
}

/// As many blocks as it takes for so many threads; one at least.
unsigned blocks_for(std::int64_t threads, int block, std::int64_t most) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads + block - 1) / block, 1, most));
}

}  // namespace

cudaError_t most_compute_threads(int processors, std::int64_t& threads) {
  int blocks = 0;
  const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, compute, compute_block, 0);
  threads = static_cast<std::int64_t>(blocks) * processors * compute_block;
  return error;
}

cudaError_t launch_compute(const task& it, std::int64_t most_threads, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(compute_threads(it.iterations, most_threads) / compute_block);
  compute<<<blocks, compute_block, 0, stream>>>(it);
  return cudaGetLastError();
}

cudaError_t launch_copy(const task& it, const windows& cut, int processors, cudaStream_t stream) {
  const std::int64_t most = 16LL * processors;  // what keeps the memory busy
  const unsigned columns = blocks_for(cut.pairs, copy_block, most);
  const unsigned rows =
      blocks_for(it.iterations, 1, std::min(most_blocks, std::max<std::int64_t>(1, most / columns)));
  copy<<<dim3(columns, rows), copy_block, 0, stream>>>(it, cut);
  return cudaGetLastError();
}

cudaError_t launch_fill(double* scratch, std::int64_t count, cudaStream_t stream) {
  fill<<<blocks_for(count, copy_block, most_blocks), copy_block, 0, stream>>>(scratch, count);
  return cudaGetLastError();
}

}  // namespace teff::gpu
