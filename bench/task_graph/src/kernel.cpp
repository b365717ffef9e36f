#include "teff/graphs/kernel.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "kernels/blas.hpp"
#include "kernels/vectorized.hpp"
#include "kernels/windows.hpp"
#include "teff/graphs/random.hpp"

namespace teff::graphs {
namespace {

using namespace kernels;

template <class Value>
struct named {
  Value value;
  std::string_view name;
};

constexpr std::array<named<kernel_kind>, 9> kind_names{{
    {kernel_kind::empty, "empty"},
    {kernel_kind::busy_wait, "busy_wait"},
    {kernel_kind::compute_bound, "compute_bound"},
    {kernel_kind::compute_bound2, "compute_bound2"},
    {kernel_kind::memory_bound, "memory_bound"},
    {kernel_kind::compute_dgemm, "compute_dgemm"},
    {kernel_kind::memory_daxpy, "memory_daxpy"},
    {kernel_kind::io_bound, "io_bound"},
    {kernel_kind::load_imbalance, "load_imbalance"},
}};

constexpr std::array<named<isa>, 3> isa_names{{
    {isa::baseline, "baseline"},
    {isa::avx2, "avx2"},
    {isa::avx512, "avx512"},
}};

template <class Names, class Value>
std::string_view name_in(const Names& names, Value value) {
  for (const auto& entry : names)
    if (entry.value == value) return entry.name;
  return "unknown";
}

template <class Value, std::size_t Size>
std::optional<Value> parse_in(const std::array<named<Value>, Size>& names, std::string_view text) {
  for (const auto& entry : names)
    if (entry.name == text) return entry.value;
  return std::nullopt;
}

bool uses_samples(kernel_kind kind) {
  return kind == kernel_kind::memory_bound || kind == kernel_kind::memory_daxpy ||
         kind == kernel_kind::io_bound;
}

bool uses_windows(kernel_kind kind) {
  return kind == kernel_kind::memory_bound || kind == kernel_kind::memory_daxpy;
}

constexpr std::int64_t most_samples = (std::int64_t{1} << 31) - 1;

/// The result of flops() or bytes() in a type that can't overflow.
double work_of(kernel_kind kind, double iterations, double scratch_bytes) {
  switch (kind) {
    case kernel_kind::compute_bound:
    case kernel_kind::compute_bound2:
      return 2 * compute_bound_values * iterations;
    case kernel_kind::load_imbalance:
      return 4 * compute_bound_values * iterations;  // up to twice of them
    case kernel_kind::compute_dgemm:
      return 2 * std::pow(scratch_bytes / 24, 1.5) * iterations;
    case kernel_kind::memory_bound:
    case kernel_kind::memory_daxpy:
      return scratch_bytes * iterations;
    case kernel_kind::empty:
    case kernel_kind::busy_wait:
    case kernel_kind::io_bound:
      break;
  }
  return iterations;
}

std::string check_windows(const kernel& kernel, std::int64_t scratch_bytes) {
  const std::int64_t least = smallest_window * kernel.samples;
  if (scratch_bytes >= least) return {};
  return fmt::format(
      "-scratch {} is too small for {} with -sample {}: take -scratch {} or more ({} bytes a sample)",
      scratch_bytes, name(kernel.kind), kernel.samples, least, smallest_window);
}

}  // namespace

std::string_view name(kernel_kind kind) {
  return name_in(kind_names, kind);
}

std::optional<kernel_kind> parse_kernel_kind(std::string_view text) {
  return parse_in(kind_names, text);
}

std::span<const kernel_kind> kernel_kinds() {
  static constexpr auto kinds = [] {
    std::array<kernel_kind, kind_names.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kind_names[i].value;
    return all;
  }();
  return kinds;
}

std::string_view name(isa level) {
  return name_in(isa_names, level);
}

std::optional<isa> parse_isa(std::string_view text) {
  return parse_in(isa_names, text);
}

bool supported(isa level) {
#if defined(__x86_64__)
  switch (level) {
    case isa::baseline:
      return true;
    case isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case isa::avx512:
      return supported(isa::avx2) && __builtin_cpu_supports("avx512f");
  }
  return false;
#else
  return level == isa::baseline;
#endif
}

isa best_isa() {
  if (supported(isa::avx512)) return isa::avx512;
  return supported(isa::avx2) ? isa::avx2 : isa::baseline;
}

std::int64_t kernel::iterations_of(std::int64_t graph, std::int64_t timestep, std::int64_t point) const {
  if (kind != kernel_kind::load_imbalance) return iterations;
  const double u = persistent_imbalance ? uniform({graph, point}) : uniform({graph, timestep, point});
  return std::llround((1 + (u - 0.5) * imbalance) * static_cast<double>(iterations));
}

std::int64_t kernel::flops(std::int64_t iterations, std::int64_t scratch_bytes) const {
  switch (kind) {
    case kernel_kind::compute_bound:
    case kernel_kind::load_imbalance: {
      constexpr std::int64_t values = compute_bound_values;
      return 2 * values * iterations + values;
    }
    case kernel_kind::compute_bound2:
      return 2 * static_cast<std::int64_t>(compute_bound2_values) * iterations;
    case kernel_kind::compute_dgemm: {
      const std::int64_t order = matrix_order(scratch_bytes);
      return 2 * order * order * order * iterations;
    }
    default:
      return 0;
  }
}

std::int64_t kernel::bytes(std::int64_t iterations, std::int64_t scratch_bytes) const {
  if (!uses_windows(kind)) return 0;
  return scratch_bytes * iterations / samples;
}

std::string check(const kernel& kernel, std::int64_t scratch_bytes) {
  if (kernel.iterations < 0) return fmt::format("-iter {} is negative: take 0 or more", kernel.iterations);
  if (!(kernel.imbalance >= 0 && kernel.imbalance <= 2))  // so that nan fails
    return fmt::format(
        "-imbalance {} is not in [0, 2]: at 2 the iterations lie between none and twice of them",
        kernel.imbalance);
  if (uses_samples(kernel.kind) && (kernel.samples < 1 || kernel.samples > most_samples))
    return fmt::format("-sample {} is not in [1, {}], as {} needs", kernel.samples, most_samples,
                       name(kernel.kind));
  if (work_of(kernel.kind, static_cast<double>(kernel.iterations), static_cast<double>(scratch_bytes)) >=
      0x1p62)
    return fmt::format("-iter {} of {} is more work than 64 bits can count: take fewer", kernel.iterations,
                       name(kernel.kind));
  if (uses_windows(kernel.kind)) return check_windows(kernel, scratch_bytes);
  if (kernel.kind != kernel_kind::compute_dgemm) return {};
  if (matrix_order(scratch_bytes) < 1)
    return fmt::format(
        "-scratch {} is too small for compute_dgemm: take -scratch 24 or more (three 1 x 1 matrices)",
        scratch_bytes);
  return load_blas();
}

}  // namespace teff::graphs
