// The parts of the kernels, beside naive loops.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "kernels/busy_wait.hpp"
#include "kernels/vectorized.hpp"
#include "kernels/windows.hpp"
#include "supported_isas.hpp"
#include "teff/graphs/kernel.hpp"

namespace teff::graphs {
namespace {

using namespace kernels;

constexpr std::array some_iterations = {0, 1, 2, 3, 4, 5, 6, 7, 13, 100, 1001};

/// Calls function with a null vectorized<level>*, whose type names the set.
template <class Function>
void with_vectorized(isa level, const Function& function) {
  switch (level) {
    case isa::baseline:
      return function(static_cast<vectorized<isa::baseline>*>(nullptr));
#if defined(__x86_64__)
    case isa::avx2:
      return function(static_cast<vectorized<isa::avx2>*>(nullptr));
    case isa::avx512:
      return function(static_cast<vectorized<isa::avx512>*>(nullptr));
#else
    default:
      break;
#endif
  }
}

void expect_near_relative(double actual, double expected, double tolerance) {
  EXPECT_NEAR(actual, expected, std::abs(expected) * tolerance);
}

/// A double that counts the operations on it.
struct counted {
  double value = 0;
  static inline std::int64_t operations = 0;

  friend counted operator*(counted a, counted b) {
    ++operations;
    return {a.value * b.value};
  }
  friend counted operator+(counted a, counted b) {
    ++operations;
    return {a.value + b.value};
  }
};

template <class Value>
Value square_and_add_naively(std::span<Value> values, std::int64_t iterations) {
  for (std::int64_t i = 0; i < iterations; ++i)
    for (Value& a : values) a = a * a + a;
  Value product{1};
  for (const Value& a : values) product = product * a;
  return product;
}

template <class Value>
void multiply_and_add_naively(std::span<Value> c, std::span<const Value> a, std::span<const Value> b,
                              std::int64_t iterations) {
  for (std::int64_t i = 0; i < iterations; ++i)
    for (std::size_t j = 0; j < c.size(); ++j) c[j] = c[j] + a[j] * b[j];
}

class vectorized_code : public testing::TestWithParam<isa> {};

TEST_P(vectorized_code, square_and_add_gives_what_a_naive_loop_gives) {
  for (const std::int64_t iterations : some_iterations) {
    std::array<double, compute_bound_values> values{}, start{}, expected{};
    for (std::size_t i = 0; i < values.size(); ++i)
      start[i] = expected[i] = -0.99 + 0.4 * static_cast<double>(i) / 64;
    const double expected_product = square_and_add_naively<double>(expected, iterations);
    double product = 0;
    with_vectorized(GetParam(), [&](auto* code) {
      product = code->square_and_add(values.data(), start.data(), iterations);
    });
    SCOPED_TRACE(iterations);
    expect_near_relative(product, expected_product, 1e-9);
    for (std::size_t i = 0; i < values.size(); ++i) expect_near_relative(values[i], expected[i], 1e-11);
  }
}

TEST_P(vectorized_code, multiply_and_add_gives_what_a_naive_loop_gives) {
  for (const std::int64_t iterations : some_iterations) {
    std::array<double, compute_bound2_values> a{}, b{}, c{}, start{}, expected{};
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = 1 + 0.37 * static_cast<double>(i);
      b[i] = 3 - 0.05 * static_cast<double>(i);
      start[i] = expected[i] = static_cast<double>(i);
    }
    multiply_and_add_naively<double>(expected, a, b, iterations);
    with_vectorized(GetParam(), [&](auto* code) {
      code->multiply_and_add(c.data(), start.data(), a.data(), b.data(), iterations);
    });
    SCOPED_TRACE(iterations);
    for (std::size_t i = 0; i < c.size(); ++i) expect_near_relative(c[i], expected[i], 1e-12);
  }
}

TEST_P(vectorized_code, stream_copy_copies_all_and_nothing_else_at_every_alignment) {
  for (std::size_t offset = 0; offset < 9; ++offset)
    for (const std::size_t count : {0, 1, 5, 8, 31, 32, 33, 100, 1000}) {
      std::vector<double> from(count + 1), to(count + offset + 9, -1.0);
      std::iota(from.begin(), from.end(), 1.0);
      with_vectorized(GetParam(), [&](auto* code) {
        code->stream_copy(to.data() + offset, from.data(), count);
        code->stream_fence();
      });
      std::vector<double> expected(to.size(), -1.0);
      std::copy_n(from.begin(), count, expected.begin() + static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(to, expected) << count << " doubles at offset " << offset;
    }
}

INSTANTIATE_TEST_SUITE_P(supported, vectorized_code, testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(kernel, counts_the_flops_that_a_naive_loop_does) {
  for (const std::int64_t iterations : some_iterations) {
    std::array<counted, compute_bound_values> values{};
    counted::operations = 0;
    square_and_add_naively<counted>(values, iterations);
    EXPECT_EQ(kernel{.kind = kernel_kind::compute_bound}.flops(iterations, 0), counted::operations);
    EXPECT_EQ(kernel{.kind = kernel_kind::load_imbalance}.flops(iterations, 0), counted::operations);

    std::array<counted, compute_bound2_values> a{}, b{}, c{};
    counted::operations = 0;
    multiply_and_add_naively<counted>(c, a, b, iterations);
    EXPECT_EQ(kernel{.kind = kernel_kind::compute_bound2}.flops(iterations, 0), counted::operations);
  }
}

TEST(busy_wait, is_a_power_of_its_multiplier) {
  std::uint64_t power = 1;
  for (const std::int64_t iterations : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
    power = power * 48271 % 2147483647;
    EXPECT_EQ(kernels::busy_wait(iterations), power);
  }
  EXPECT_EQ(kernels::busy_wait(0), 1U);
  EXPECT_EQ(kernels::busy_wait(10000), 399268537U);  // the check value of std::minstd_rand
}

TEST(windows, share_out_the_scratch_in_equal_halves) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t samples = std::uniform_int_distribution<std::int64_t>(1, 40)(random);
    const std::int64_t bytes =
        std::uniform_int_distribution<std::int64_t>(smallest_window * samples, 9000)(random);
    std::vector<double> memory(static_cast<std::size_t>(bytes) / sizeof(double) + 1);
    const windows cut(std::as_writable_bytes(std::span(memory)).first(static_cast<std::size_t>(bytes)),
                      samples);
    const double* next = memory.data();
    std::set<std::size_t> counts;
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const auto [first, second, count] = cut[sample];
      EXPECT_EQ(first, next);
      EXPECT_EQ(second, first + count);
      next = second + count;
      counts.insert(count);
    }
    EXPECT_EQ(next, memory.data() + bytes / smallest_window * 2);
    EXPECT_LE(*counts.rbegin() - *counts.begin(), 1U);
    EXPECT_GE(*counts.begin(), 1U);
  }
}

TEST(samples, follow_on_from_timestep_to_timestep_without_overflow) {
  const auto samples_of = [](std::int64_t samples, std::int64_t iterations, std::int64_t timestep) {
    std::vector<std::int64_t> taken;
    for_each_sample(samples, iterations, timestep, [&](std::int64_t sample) { taken.push_back(sample); });
    return taken;
  };
  EXPECT_EQ(samples_of(16, 5, 0), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(samples_of(16, 5, 3), (std::vector<std::int64_t>{15, 0, 1, 2, 3}));
  EXPECT_EQ(samples_of(1, 2, 9), (std::vector<std::int64_t>{0, 0}));
  // (2^62 + 1) * 2 modulo 2^31 - 1, where 2^62 is 1
  EXPECT_EQ(samples_of((std::int64_t{1} << 31) - 1, 2, (std::int64_t{1} << 62) + 1),
            (std::vector<std::int64_t>{4, 5}));
}

}  // namespace
}  // namespace teff::graphs
