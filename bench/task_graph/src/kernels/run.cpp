#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "kernels/blas.hpp"
#include "kernels/busy_wait.hpp"
#include "kernels/last_level_cache.hpp"
#include "kernels/scratch_file.hpp"
#include "kernels/vectorized.hpp"
#include "kernels/vectors.hpp"
#include "kernels/windows.hpp"
#include "teff/graphs/kernel.hpp"

namespace teff::graphs {
namespace {

using namespace kernels;

/// count doubles, the first at `first` and each `step` further on.
template <std::size_t Count>
constexpr std::array<double, Count> progression(double first, double step) {
  std::array<double, Count> values{};
  for (std::size_t i = 0; i < Count; ++i) values[i] = first + step * static_cast<double>(i);
  return values;
}

// a * a + a takes a value in (-1, 0) nearer to 0, never out of it, and by ever smaller steps: 1/a grows by
// about 1 each. So the values meet no infinity and none of the tiny numbers that slow processors down.
alignas(64) constexpr auto compute_bound_start = progression<compute_bound_values>(-63.5 / 64, 1.0 / 64);
alignas(64) constexpr auto compute_bound2_start = progression<compute_bound2_values>(0, 0);
alignas(64) constexpr auto compute_bound2_a = progression<compute_bound2_values>(0.5, 1.0 / 64);
alignas(64) constexpr auto compute_bound2_b = progression<compute_bound2_values>(1.0, 1.0 / 128);

constexpr double daxpy_factor = 0.25;

// Streaming costs a little at both ends of a window, more than it saves where the window is small.
constexpr std::size_t smallest_streamed_half = 4096 / sizeof(double);

void run_empty(const kernel&, std::int64_t, std::int64_t, std::span<std::byte>) {}

void run_busy_wait(const kernel&, std::int64_t iterations, std::int64_t, std::span<std::byte>) {
  asm volatile("" : : "r"(busy_wait(iterations)));
}

template <isa I>
void run_compute_bound(const kernel&, std::int64_t iterations, std::int64_t, std::span<std::byte>) {
  alignas(64) std::array<double, compute_bound_values> values;
  double product = vectorized<I>::square_and_add(values.data(), compute_bound_start.data(), iterations);
  forget(product);
}

template <isa I>
void run_compute_bound2(const kernel&, std::int64_t iterations, std::int64_t, std::span<std::byte>) {
  alignas(64) std::array<double, compute_bound2_values> c;
  vectorized<I>::multiply_and_add(c.data(), compute_bound2_start.data(), compute_bound2_a.data(),
                                  compute_bound2_b.data(), iterations);
  asm volatile("" : : "r"(c.data()) : "memory");
}

/// memcpy copies a scratch that fits the cache, since its authors know each processor's best way. A larger
/// scratch is streamed past the cache; memcpy sees only one window and would not stream it.
template <isa I>
void run_memory_bound(const kernel& kernel, std::int64_t iterations, std::int64_t timestep,
                      std::span<std::byte> scratch) {
  const windows cut(scratch, kernel.samples);
  const bool streamed = static_cast<std::int64_t>(scratch.size()) >= streaming_threshold();
  for_each_sample(kernel.samples, iterations, timestep, [&](std::int64_t sample) {
    const auto [first, second, count] = cut[sample];
    if (streamed && count >= smallest_streamed_half)
      vectorized<I>::stream_copy(second, first, count);
    else
      std::memcpy(second, first, count * sizeof(double));
  });
  if (streamed) vectorized<I>::stream_fence();
}

template <isa I>
void run_memory_daxpy(const kernel& kernel, std::int64_t iterations, std::int64_t timestep,
                      std::span<std::byte> scratch) {
  const windows cut(scratch, kernel.samples);
  for_each_sample(kernel.samples, iterations, timestep, [&](std::int64_t sample) {
    const auto [x, y, count] = cut[sample];
    vectorized<I>::add_scaled(y, x, count, daxpy_factor);
  });
}

void run_compute_dgemm(const kernel&, std::int64_t iterations, std::int64_t, std::span<std::byte> scratch) {
  for (; iterations > 0; --iterations) multiply_matrices(scratch);
}

void run_io_bound(const kernel& kernel, std::int64_t iterations, std::int64_t timestep,
                  std::span<std::byte>) {
  scratch_file& file = scratch_file::of_this_thread();
  for_each_sample(kernel.samples, iterations, timestep,
                  [&](std::int64_t sample) { file.write_and_read(sample); });
}

template <isa I>
kernel_function select(kernel_kind kind) {
  switch (kind) {
    case kernel_kind::empty:
      return run_empty;
    case kernel_kind::busy_wait:
      return run_busy_wait;
    case kernel_kind::compute_bound:
      return run_compute_bound<I>;
    case kernel_kind::compute_bound2:
      return run_compute_bound2<I>;
    case kernel_kind::memory_bound:
      return run_memory_bound<I>;
    case kernel_kind::compute_dgemm:
      return run_compute_dgemm;
    case kernel_kind::memory_daxpy:
      return run_memory_daxpy<I>;
    case kernel_kind::io_bound:
      return run_io_bound;
    case kernel_kind::load_imbalance:
      return run_compute_bound<I>;  // the iterations are drawn by then
  }
  throw std::invalid_argument("no such kernel");
}

}  // namespace

kernel_function select_kernel(kernel_kind kind, isa level) {
  if (!supported(level))
    throw std::invalid_argument(
        fmt::format("this processor doesn't have {}: take {}", name(level), name(best_isa())));
  if (kind == kernel_kind::compute_dgemm)
    if (const std::string& error = load_blas(); !error.empty()) throw std::runtime_error(error);
  switch (level) {
    case isa::baseline:
      break;
#if defined(__x86_64__)
    case isa::avx2:
      return select<isa::avx2>(kind);
    case isa::avx512:
      return select<isa::avx512>(kind);
#else
    default:
      break;
#endif
  }
  return select<isa::baseline>(kind);
}

void prepare_scratch(std::span<std::byte> scratch) {
  constexpr std::size_t period = 127;
  const std::size_t count = scratch.size() / sizeof(double);
  auto* values = reinterpret_cast<double*>(scratch.data());
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.5 + static_cast<double>(i % period) / 256;
  std::ranges::fill(scratch.subspan(count * sizeof(double)), std::byte{});
}

}  // namespace teff::graphs
