#include "teff/graphs/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels/last_level_cache.hpp"
#include "kernels/windows.hpp"
#include "supported_isas.hpp"

namespace teff::graphs {
namespace {

using namespace kernels;

kernel make_kernel(kernel_kind kind, std::int64_t iterations = 1, std::int64_t samples = 16) {
  return {.kind = kind, .iterations = iterations, .samples = samples};
}

std::ptrdiff_t count_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

const std::ptrdiff_t threads_at_start = count_threads();

/// A worker's scratch, aligned for doubles at most, so that vector code meets the least alignment.
class scratch {
 public:
  explicit scratch(std::size_t bytes)
      : values_((bytes + sizeof(double) - 1) / sizeof(double) + 1), bytes_(bytes) {
    prepare_scratch(span());
  }
  std::span<std::byte> span() { return std::as_writable_bytes(std::span(values_).subspan(1)).first(bytes_); }
  std::span<double> doubles() { return std::span(values_).subspan(1, bytes_ / sizeof(double)); }

 private:
  std::vector<double> values_;
  std::size_t bytes_;
};

class kernels_of_isa : public testing::TestWithParam<isa> {};

TEST_P(kernels_of_isa, memory_bound_copies_in_the_windows_of_its_timestep_and_no_other) {
  constexpr std::int64_t samples = 5, iterations = 2, timestep = 4;  // samples 8 and 9 modulo 5: 3 and 4
  constexpr std::int64_t half = 7;
  scratch memory(static_cast<std::size_t>(samples * 2 * half) * sizeof(double));
  std::iota(memory.doubles().begin(), memory.doubles().end(), 0.0);
  std::vector<double> expected(memory.doubles().begin(), memory.doubles().end());
  for (const std::int64_t window : {3, 4})
    std::copy_n(expected.begin() + window * 2 * half, half, expected.begin() + window * 2 * half + half);
  const kernel memory_bound = make_kernel(kernel_kind::memory_bound, iterations, samples);
  select_kernel(memory_bound.kind, GetParam())(memory_bound, iterations, timestep, memory.span());
  EXPECT_TRUE(std::ranges::equal(memory.doubles(), expected));
}

TEST_P(kernels_of_isa, memory_bound_copies_a_scratch_larger_than_the_caches_too) {
  constexpr std::int64_t samples = 3;
  scratch memory(static_cast<std::size_t>(streaming_threshold()) + 80);
  const kernel memory_bound = make_kernel(kernel_kind::memory_bound, samples, samples);
  select_kernel(memory_bound.kind, GetParam())(memory_bound, samples, 7, memory.span());
  const windows cut(memory.span(), samples);
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const auto [first, second, count] = cut[sample];
    EXPECT_TRUE(std::equal(first, first + count, second)) << "window " << sample;
  }
}

TEST_P(kernels_of_isa, memory_daxpy_adds_a_quarter_of_the_first_half_to_the_second) {
  constexpr std::int64_t samples = 2, iterations = 3;  // of timestep 1: windows 1, 0, 1
  constexpr std::size_t half = 37;
  scratch memory(samples * 2 * half * sizeof(double));
  std::iota(memory.doubles().begin(), memory.doubles().end(), 0.0);
  std::vector<double> expected(memory.doubles().begin(), memory.doubles().end());
  for (const std::size_t window : {1, 0, 1})
    for (std::size_t i = window * 2 * half; i < window * 2 * half + half; ++i)
      expected[i + half] += 0.25 * expected[i];
  const kernel daxpy = make_kernel(kernel_kind::memory_daxpy, iterations, samples);
  select_kernel(daxpy.kind, GetParam())(daxpy, iterations, 1, memory.span());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(memory.doubles()[i], expected[i], 1e-12) << i;
}

TEST_P(kernels_of_isa, every_kernel_runs_with_few_and_no_iterations) {
  scratch memory(4096);
  for (const kernel_kind kind : kernel_kinds()) {
    const kernel each = make_kernel(kind);
    if (kind == kernel_kind::compute_dgemm && !check(each, 4096).empty()) continue;
    for (const std::int64_t iterations : {0, 1, 40}) {
      SCOPED_TRACE(name(kind));
      EXPECT_NO_THROW(select_kernel(kind, GetParam())(each, iterations, 3, memory.span()));
      EXPECT_TRUE(std::ranges::all_of(memory.doubles(), [](double value) { return std::isnormal(value); }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(supported, kernels_of_isa, testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(kernel, without_iterations_leaves_the_scratch_as_it_is) {
  for (const kernel_kind kind : {kernel_kind::memory_bound, kernel_kind::memory_daxpy}) {
    scratch memory(4096), untouched(4096);
    select_kernel(kind, best_isa())(make_kernel(kind, 0), 0, 5, memory.span());
    EXPECT_TRUE(std::ranges::equal(memory.doubles(), untouched.doubles())) << name(kind);
  }
}

TEST(kernel, counts_two_flops_for_each_multiply_add_of_a_matrix_product) {
  const kernel dgemm = make_kernel(kernel_kind::compute_dgemm);
  EXPECT_EQ(dgemm.flops(3, 2400), 2 * 10 * 10 * 10 * 3);
  EXPECT_EQ(dgemm.flops(3, 2399), 2 * 9 * 9 * 9 * 3);
  EXPECT_EQ(dgemm.flops(1, 24), 2);
  EXPECT_EQ(dgemm.flops(1, 23), 0);
}

TEST(kernel, counts_the_bytes_of_its_windows) {
  EXPECT_EQ(make_kernel(kernel_kind::memory_bound, 1, 16).bytes(5, 1 << 20), (1 << 20) * 5 / 16);
  EXPECT_EQ(make_kernel(kernel_kind::memory_daxpy, 1, 3).bytes(2, 1001), 667);
  for (const kernel_kind kind :
       {kernel_kind::empty, kernel_kind::busy_wait, kernel_kind::compute_bound, kernel_kind::compute_bound2,
        kernel_kind::compute_dgemm, kernel_kind::io_bound, kernel_kind::load_imbalance})
    EXPECT_EQ(make_kernel(kind).bytes(3, 1 << 20), 0) << name(kind);
}

TEST(kernel, counts_no_flops_where_it_does_none) {
  for (const kernel_kind kind : {kernel_kind::empty, kernel_kind::busy_wait, kernel_kind::memory_bound,
                                 kernel_kind::memory_daxpy, kernel_kind::io_bound})
    EXPECT_EQ(make_kernel(kind).flops(3, 1 << 20), 0) << name(kind);
}

// The numbers are from a SipHash-2-4 in Python that was checked with the published test vectors.
TEST(load_imbalance, draws_the_iterations_that_the_published_formula_gives) {
  struct row {
    std::int64_t graph, timestep, point, at_two, at_half;
  };
  for (const auto& [graph, timestep, point, at_two, at_half] :
       {row{0, 0, 0, 1874, 1219}, row{0, 1, 0, 1392, 1098}, row{0, 0, 1, 239, 810}, row{3, 17, 5, 596, 899},
        row{1, 1000, 63, 1814, 1204}}) {
    kernel imbalanced{.kind = kernel_kind::load_imbalance, .iterations = 1000, .imbalance = 2.0};
    EXPECT_EQ(imbalanced.iterations_of(graph, timestep, point), at_two);
    imbalanced.imbalance = 0.5;
    EXPECT_EQ(imbalanced.iterations_of(graph, timestep, point), at_half);
  }
}

TEST(load_imbalance, draws_once_for_all_timesteps_where_it_is_persistent) {
  const kernel persistent{.kind = kernel_kind::load_imbalance,
                          .iterations = 1000,
                          .imbalance = 2.0,
                          .persistent_imbalance = true};
  for (const std::int64_t timestep : {0, 1, 999}) {
    EXPECT_EQ(persistent.iterations_of(0, timestep, 0), 1861);
    EXPECT_EQ(persistent.iterations_of(0, timestep, 1), 941);
    EXPECT_EQ(persistent.iterations_of(3, timestep, 5), 1486);
  }
}

TEST(load_imbalance, runs_the_given_iterations_on_average) {
  const kernel imbalanced{.kind = kernel_kind::load_imbalance, .iterations = 1000, .imbalance = 2.0};
  std::int64_t sum = 0;
  for (std::int64_t timestep = 0; timestep < 100; ++timestep)
    for (std::int64_t point = 0; point < 50; ++point) {
      const std::int64_t drawn = imbalanced.iterations_of(0, timestep, point);
      EXPECT_GE(drawn, 0);
      EXPECT_LE(drawn, 2000);
      sum += drawn;
    }
  EXPECT_EQ(sum, 4991960);  // a mean of 998.4
}

TEST(load_imbalance, is_for_load_imbalance_only) {
  for (const kernel_kind kind : kernel_kinds()) {
    const kernel each{.kind = kind, .iterations = 1000, .imbalance = 2.0};
    EXPECT_EQ(each.iterations_of(0, 0, 0), kind == kernel_kind::load_imbalance ? 1874 : 1000) << name(kind);
  }
}

TEST(compute_dgemm, multiplies_the_matrices_in_the_scratch) {
  constexpr std::size_t order = 7;
  scratch memory(3 * order * order * sizeof(double) + 8);
  const kernel dgemm = make_kernel(kernel_kind::compute_dgemm);
  if (const std::string reason = check(dgemm, 24 * order * order); !reason.empty()) GTEST_SKIP() << reason;
  select_kernel(dgemm.kind, isa::baseline)(dgemm, 2, 0, memory.span());
  const auto a = memory.doubles().first(order * order),
             b = memory.doubles().subspan(order * order, order * order);
  const auto c = memory.doubles().subspan(2 * order * order);
  for (std::size_t row = 0; row < order; ++row)
    for (std::size_t column = 0; column < order; ++column) {
      double expected = 0;
      for (std::size_t i = 0; i < order; ++i) expected += a[row * order + i] * b[i * order + column];
      EXPECT_NEAR(c[row * order + column], expected, 1e-12);
    }
}

TEST(compute_dgemm, starts_no_threads) {
  constexpr std::int64_t scratch_bytes = std::int64_t{24} * 300 * 300;  // large enough to be worth threads
  const kernel dgemm = make_kernel(kernel_kind::compute_dgemm);
  if (const std::string reason = check(dgemm, scratch_bytes); !reason.empty()) GTEST_SKIP() << reason;
  scratch memory(scratch_bytes);
  select_kernel(dgemm.kind, isa::baseline)(dgemm, 1, 0, memory.span());
  EXPECT_EQ(count_threads(), threads_at_start);
}

TEST(io_bound, names_the_folder_that_takes_no_file) {
  const kernel io_bound = make_kernel(kernel_kind::io_bound);
  const char* original = std::getenv("TMPDIR");
  const std::string before = original ? original : "";
  setenv("TMPDIR", "/dev/null/nowhere", 1);
  std::string message;
  std::thread([&] {  // a thread's file is made once
    try {
      select_kernel(io_bound.kind, isa::baseline)(io_bound, 1, 0, {});
    } catch (const std::system_error& error) {
      message = error.what();
    }
  })
      .join();
  original ? setenv("TMPDIR", before.c_str(), 1) : unsetenv("TMPDIR");
  EXPECT_NE(message.find("can't make a temporary file in /dev/null/nowhere"), std::string::npos) << message;
}

TEST(check, lets_every_kernel_with_its_scratch_run) {
  for (const kernel_kind kind : kernel_kinds())
    if (kind != kernel_kind::compute_dgemm) {
      EXPECT_EQ(check(make_kernel(kind, 1000), 256), "") << name(kind);
    }
  EXPECT_EQ(check(make_kernel(kernel_kind::memory_bound, 1, 3), 48), "");
  EXPECT_EQ(check(make_kernel(kernel_kind::compute_bound, 1, 0), 0), "");  // which has no use for samples
}

TEST(check, says_what_is_wrong_and_what_would_do) {
  const auto expect = [](const kernel& wrong, std::int64_t scratch_bytes, const std::string& message) {
    EXPECT_EQ(check(wrong, scratch_bytes), message);
  };
  expect(make_kernel(kernel_kind::memory_bound), 0,
         "-scratch 0 is too small for memory_bound with -sample 16: take -scratch 256 or more (16 bytes a "
         "sample)");
  expect(make_kernel(kernel_kind::memory_daxpy, 1, 3), 47,
         "-scratch 47 is too small for memory_daxpy with -sample 3: take -scratch 48 or more (16 bytes a "
         "sample)");
  expect(make_kernel(kernel_kind::memory_bound, 1, 0), 256,
         "-sample 0 is not in [1, 2147483647], as memory_bound needs");
  expect(make_kernel(kernel_kind::io_bound, 1, -1), 0,
         "-sample -1 is not in [1, 2147483647], as io_bound needs");
  expect(make_kernel(kernel_kind::compute_dgemm), 23,
         "-scratch 23 is too small for compute_dgemm: take -scratch 24 or more (three 1 x 1 matrices)");
  expect(make_kernel(kernel_kind::empty, -5), 0, "-iter -5 is negative: take 0 or more");
  expect({.kind = kernel_kind::load_imbalance, .imbalance = 2.5}, 0,
         "-imbalance 2.5 is not in [0, 2]: at 2 the iterations lie between none and twice of them");
  expect(make_kernel(kernel_kind::compute_bound, std::int64_t{1} << 62), 0,
         "-iter 4611686018427387904 of compute_bound is more work than 64 bits can count: take fewer");
}

TEST(check, rejects_an_imbalance_that_is_no_number) {
  EXPECT_NE(check({.kind = kernel_kind::load_imbalance, .imbalance = std::nan("")}, 0), "");
}

TEST(select_kernel, refuses_what_the_processor_lacks) {
  for (const isa level : {isa::baseline, isa::avx2, isa::avx512}) {
    if (supported(level))
      EXPECT_NE(select_kernel(kernel_kind::compute_bound, level), nullptr);
    else
      EXPECT_THROW((void)select_kernel(kernel_kind::compute_bound, level), std::invalid_argument);
  }
  EXPECT_TRUE(supported(isa::baseline));
  EXPECT_TRUE(supported(best_isa()));
}

TEST(prepare_scratch, fills_every_byte_with_ordinary_numbers) {
  std::vector<double> values(1000, -0.1);  // whose bytes all differ from 0
  const std::span<std::byte> bytes =
      std::as_writable_bytes(std::span(values)).first(999 * sizeof(double) + 3);
  prepare_scratch(bytes);
  EXPECT_TRUE(std::all_of(values.begin(), values.end() - 1, [](double x) { return x >= 0.5 && x < 1; }));
  EXPECT_TRUE(std::ranges::all_of(bytes.last(3), [](std::byte byte) { return byte == std::byte{}; }));
}

TEST(names, are_read_as_they_are_written) {
  for (const kernel_kind kind : kernel_kinds()) EXPECT_EQ(parse_kernel_kind(name(kind)), kind);
  for (const isa level : {isa::baseline, isa::avx2, isa::avx512}) EXPECT_EQ(parse_isa(name(level)), level);
  EXPECT_EQ(kernel_kinds().size(), 9U);
  EXPECT_EQ(name(kernel_kind::memory_daxpy), "memory_daxpy");
  EXPECT_EQ(parse_kernel_kind("compute"), std::nullopt);
  EXPECT_EQ(parse_isa("AVX2"), std::nullopt);
}

}  // namespace
}  // namespace teff::graphs
