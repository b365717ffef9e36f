#include "workers.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace teff::test {
namespace {

std::vector<std::size_t> lengths(std::mt19937_64& random) {
  std::vector<std::size_t> all{0, 1, 2, 3, 127, 128, 129, 70000};
  for (int i = 0; i < 8; ++i) all.push_back(std::uniform_int_distribution<std::size_t>(0, 100000)(random));
  return all;
}

TEST(parallel_scan, has_the_result_of_the_standard_library) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (const auto n : lengths(random)) {
      SCOPED_TRACE(testing::Message() << n << " elements");
      std::vector<long> in(n);
      for (auto& each : in) each = static_cast<long>(random() % 1000);
      std::vector<long> expected(n);
      std::vector<long> out(n);
      rt.run([&] {
        std::inclusive_scan(in.begin(), in.end(), expected.begin());
        EXPECT_EQ(parallel_inclusive_scan(in, out.begin()), out.end());
        EXPECT_EQ(out, expected);
        std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::plus<>{}, 7L);
        parallel_inclusive_scan(in.begin(), in.end(), out.begin(), std::plus<>{}, 7L);
        EXPECT_EQ(out, expected);
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), 7L);
        EXPECT_EQ(parallel_exclusive_scan(in, out.begin(), 7L), out.end());
        EXPECT_EQ(out, expected);
        parallel_exclusive_scan(in.begin(), in.end(), in.begin(), 7L);
        EXPECT_EQ(in, expected) << "in place";
      });
    }
  });
}

TEST(parallel_scan, runs_over_iota_of_integers_of_64_bits) {
  on_runtimes([](runtime& rt) {
    for (const std::size_t count : {0UL, 1UL, 20'000UL}) {
      const auto last = std::numeric_limits<std::size_t>::max();
      const auto all = std::views::iota(last - count, last);  // modulo 2^64: -count - 1 to before -1
      std::vector<std::size_t> expected(count);
      std::inclusive_scan(all.begin(), all.end(), expected.begin());
      std::vector<std::size_t> out(count);
      const auto end = rt.run([&] { return parallel_inclusive_scan(all, out.begin()); });
      EXPECT_EQ(end, out.end());
      EXPECT_EQ(out, expected);
      EXPECT_EQ(rt.run([&] {
        return parallel_inclusive_scan(all.begin(), all.end(), out.data(), std::plus<>{}, 5UL);
      }),
                out.data() + count);
      for (auto& each : expected) each += 5;
      EXPECT_EQ(out, expected);
      EXPECT_EQ(rt.run([&] { return parallel_exclusive_scan(all, out.begin(), 5UL); }), out.end());
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], i == 0 ? 5 : expected[i - 1]);
    }
  });
}

TEST(parallel_scan, keeps_the_order_of_an_operation_that_does_not_commute) {
  on_runtimes([](runtime& rt) {
    const std::vector<std::string> letters{"a", "b", "c", "d", "e", "f", "g"};
    std::vector<std::string> out(letters.size());
    rt.run([&] { parallel_inclusive_scan(letters, out.begin(), std::plus<>{}, std::string(">")); });
    EXPECT_EQ(out.back(), ">abcdefg");
    EXPECT_EQ(out.front(), ">a");
    rt.run([&] { parallel_exclusive_scan(letters, out.begin(), std::string(">")); });
    EXPECT_EQ(out.back(), ">abcdef");
    EXPECT_EQ(out.front(), ">");
  });
}

TEST(parallel_scan, of_expensive_operations_is_shared_and_right) {
  on_runtimes([](runtime& rt) {
    std::vector<long> in(500);
    std::iota(in.begin(), in.end(), 1);
    std::vector<long> out(in.size());
    for (int round = 0; round < 3; ++round) {
      rt.run([&] {
        parallel_inclusive_scan(in, out.begin(),
                                [](long a, long b) { return a + b + (fib(12) == 144 ? 0 : 1); });
      });
      for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], static_cast<long>((i + 1) * (i + 2) / 2));
    }
  });
}

TEST(parallel_scan, of_floating_point_numbers_is_bitwise_the_same_on_any_number_of_workers) {
  std::vector<double> in(200000);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1.0 / static_cast<double>(i + 1);
  std::vector<double> alone(in.size());
  parallel_inclusive_scan(in, alone.begin());
  std::vector<double> before(in.size());
  parallel_exclusive_scan(in, before.begin(), 0.5);
  on_runtimes([&](runtime& rt) {
    std::vector<double> out(in.size());
    for (int round = 0; round < 5; ++round) {
      rt.run([&] { parallel_inclusive_scan(in, out.begin()); });
      EXPECT_EQ(out, alone);
      rt.run([&] { parallel_exclusive_scan(in, out.begin(), 0.5); });
      EXPECT_EQ(out, before);
    }
  });
}

TEST(parallel_scan, throws_what_the_operation_throws) {
  on_runtimes([](runtime& rt) {
    std::vector<int> values(10000, 1);
    EXPECT_THROW(rt.run([&] {
      parallel_inclusive_scan(values, values.begin(),
                              [](int a, int b) { return a == 5000 ? throw std::out_of_range("op") : a + b; });
    }),
                 std::out_of_range);
  });
}

}  // namespace
}  // namespace teff::test
