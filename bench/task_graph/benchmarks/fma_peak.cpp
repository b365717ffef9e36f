// Compiled once for each instruction set, which TEFF_ISA names.

#include <utility>

#include "kernels/vectors.hpp"
#include "references.hpp"

namespace teff::graphs {
namespace {

using kernels::forget;
using kernels::lanes;

// With two constants they fill SSE2's and AVX2's 16 registers, and are enough for two starts a cycle of
// separate instructions that take 7 cycles together.
constexpr std::size_t dependent_chains = 14;

// With two constants and a product they leave a few registers to the compiler, and are enough for two starts
// a cycle of what takes 5.
constexpr std::size_t sums = 10;

template <isa I, std::size_t... J>
void run_dependent(std::int64_t iterations, std::index_sequence<J...>) {
  using vector = kernels::vector<I>;
  vector values[] = {vector{} + static_cast<double>(J + 1)...};
  vector factor = vector{} + 0.999, addend = vector{} + 0.0007;  // the values go to 0.7
  forget(factor);
  forget(addend);
  for (; iterations > 0; --iterations) ((values[J] = values[J] * factor + addend), ...);
  (forget(values[J]), ...);
}

template <isa I, std::size_t... J>
void run_independent(std::int64_t iterations, std::index_sequence<J...>) {
  using vector = kernels::vector<I>;
  vector values[] = {vector{} + static_cast<double>(J + 1)...};
  vector factor = vector{} + 0.999, other = vector{} + 0.0007;
  forget(other);
  const auto step = [&](vector& value) {
    forget(factor);
    value += factor * other;
  };
  for (; iterations > 0; --iterations) (step(values[J]), ...);
  (forget(values[J]), ...);
}

}  // namespace

template <isa I>
std::int64_t fma_peak<I>::dependent(std::int64_t iterations) {
  run_dependent<I>(iterations, std::make_index_sequence<dependent_chains>{});
  return 2 * static_cast<std::int64_t>(dependent_chains * lanes<I>) * iterations;
}

template <isa I>
std::int64_t fma_peak<I>::independent(std::int64_t iterations) {
  run_independent<I>(iterations, std::make_index_sequence<sums>{});
  return 2 * static_cast<std::int64_t>(sums * lanes<I>) * iterations;
}

template struct fma_peak<isa::TEFF_ISA>;

}  // namespace teff::graphs
