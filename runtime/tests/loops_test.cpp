#include "workers.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace teff::test {
namespace {

TEST(parallel_for, calls_the_body_once_for_every_index) {
  on_runtimes([](runtime& rt) {
    for (const int n : {0, 1, 2, 3, 1000, 100000}) {
      std::vector<std::atomic<int>> called(static_cast<std::size_t>(n));
      rt.run([&] { parallel_for(0, n, [&](int i) { ++called[static_cast<std::size_t>(i)]; }); });
      for (auto& each : called) ASSERT_EQ(each, 1);
    }
  });
}

TEST(parallel_for, takes_negative_wide_and_unsigned_indices) {
  runtime rt{{.workers = 2}};
  rt.run([] {
    std::atomic<long> sum{0};
    parallel_for(-100L, 101L, [&](long i) { sum += i; });
    EXPECT_EQ(sum, 0);
    parallel_for(std::numeric_limits<std::int8_t>::min(), std::numeric_limits<std::int8_t>::max(),
                 [&](std::int8_t) { ++sum; });
    EXPECT_EQ(sum, 255);
    parallel_for(5U, 5U, [&](unsigned) { sum = -1; });
    parallel_for(5, 4, [&](int) { sum = -1; });
    EXPECT_EQ(sum, 255);
  });
}

TEST(parallel_for, runs_over_ranges_and_iterators) {
  runtime rt{{.workers = 2}};
  std::vector<int> values(10000, 1);
  rt.run([&] {
    parallel_for(values, [](int& value) { value += 1; });
    parallel_for(values.begin(), values.end(), [](int& value) { value *= 2; });
  });
  for (const int value : values) ASSERT_EQ(value, 4);
}

TEST(parallel_for, of_bounds_of_two_types_has_indices_of_the_type_that_holds_both) {
  const auto throw_first = [](auto first, auto last) {
    parallel_for(first, last, [](auto i) {
      static_assert(std::is_same_v<decltype(i), std::common_type_t<decltype(first), decltype(last)>>);
      throw i;
    });
  };
  EXPECT_THROW(throw_first(0, std::size_t{3'000'000'000}), std::size_t);
  EXPECT_THROW(throw_first(-3'000'000'000L, 5), long);
  EXPECT_THROW(throw_first(std::int8_t{-1}, std::int16_t{1000}), int);
  EXPECT_THROW(throw_first('a', 'c'), char);
  EXPECT_NO_THROW(throw_first(0U, -1));
  EXPECT_NO_THROW(throw_first(5, std::size_t{5}));
  EXPECT_THROW(throw_first(-1, 5U), misuse);
}

TEST(parallel_for, nests) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> cells{0};
    rt.run([&] { parallel_for(0, 50, [&](int) { parallel_for(0, 50, [&](int) { ++cells; }); }); });
    EXPECT_EQ(cells, 2500);
  });
}

TEST(parallel_for, throws_what_an_iteration_throws_with_no_iteration_left_running) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> running{0};
    EXPECT_THROW(rt.run([&] {
      parallel_for(0, 10000, [&](int i) {
        ++running;
        if (i == 7777) {
          --running;
          throw std::out_of_range("body");
        }
        --running;
      });
    }),
                 std::out_of_range);
    EXPECT_EQ(running, 0);
  });
}

TEST(parallel_reduce, is_bitwise_the_same_on_any_number_of_workers) {
  const auto sum = [] {
    return parallel_reduce(1, 300001, 0.0, [](int i) { return 1.0 / i; }, std::plus<>{});
  };
  const double alone = sum();
  EXPECT_NEAR(alone, 13.188755085, 1e-8);  // the harmonic number of 300000
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 5; ++round) EXPECT_EQ(rt.run(sum), alone);
  });
}

TEST(parallel_reduce, keeps_the_order_of_a_combination_that_does_not_commute) {
  on_runtimes([](runtime& rt) {
    const auto text = rt.run([] {
      return parallel_reduce(
          0, 26, std::string(), [](int i) { return std::string(1, static_cast<char>('a' + i)); },
          std::plus<>{}, 1);
    });
    EXPECT_EQ(text, "abcdefghijklmnopqrstuvwxyz");
  });
}

TEST(parallel_reduce, runs_over_more_indices_than_half_of_the_type_holds) {
  using limits = std::numeric_limits<int>;
  runtime rt{{.workers = 1}};
  EXPECT_THROW(rt.run([] {
    return parallel_reduce(limits::min(), limits::max(), 0L, [](int i) -> long { throw i; }, std::plus<>{});
  }),
               int);
  const auto count = parallel_reduce(
      std::numeric_limits<std::int8_t>::min(), 100'000, 0L, [](int) { return 1L; }, std::plus<>{}, 3);
  EXPECT_EQ(count, 100'128);
}

TEST(parallel_reduce, of_an_empty_range_is_the_identity) {
  EXPECT_EQ(parallel_reduce(3, 3, 42, [](int) { return 0; }, std::plus<>{}), 42);
}

TEST(parallel_reduce, throws_what_the_map_throws) {
  runtime rt{{.workers = 2}};
  EXPECT_THROW(rt.run([] {
    return parallel_reduce(
        0, 1000, 0, [](int i) { return i == 500 ? throw std::out_of_range("map") : i; }, std::plus<>{});
  }),
               std::out_of_range);
}

}  // namespace
}  // namespace teff::test
