#include "workers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Iterators over such numbers have that comma, too.
namespace expressions {
struct number {
  int value = 0;
  friend number operator+(number a, number b) { return {a.value + b.value}; }
};
template <class A, class B>
void operator,(const A&, const B&) = delete;
}  // namespace expressions

namespace teff::test {
namespace {

TEST(parallel_reduce, is_bitwise_the_same_on_any_number_of_workers) {
  const auto sum = [] {
    return parallel_reduce(1, 300001, 0.0, std::plus<>{}, [](int i) { return 1.0 / i; });
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
      return parallel_reduce(0, 26, std::string(), std::plus<>{},
                             [](int i) { return std::string(1, static_cast<char>('a' + i)); }, {.grain = 1});
    });
    EXPECT_EQ(text, "abcdefghijklmnopqrstuvwxyz");
  });
}

TEST(parallel_reduce, runs_over_more_indices_than_half_of_the_type_holds) {
  using limits = std::numeric_limits<int>;
  runtime rt{{.workers = 1}};
  EXPECT_THROW(rt.run([] {
    return parallel_reduce(limits::min(), limits::max(), 0L, std::plus<>{}, [](int i) -> long { throw i; });
  }),
               int);
  const auto count = parallel_reduce(std::numeric_limits<std::int8_t>::min(), 100'000, 0L, std::plus<>{},
                                     [](int) { return 1L; }, {.grain = 3});
  EXPECT_EQ(count, 100'128);
}

TEST(parallel_reduce, of_an_empty_range_is_the_identity) {
  EXPECT_EQ(parallel_reduce(3, 3, 42, std::plus<>{}, [](int) { return 0; }), 42);
}

TEST(parallel_reduce, runs_over_iterators_and_ranges) {
  on_runtimes([](runtime& rt) {
    std::vector<int> values(100000);
    std::iota(values.begin(), values.end(), 0);
    rt.run([&] {
      const auto square = [](int value) { return static_cast<long>(value) * value; };
      EXPECT_EQ(parallel_reduce(values, 0L, std::plus<>{}, square), 333328333350000);
      EXPECT_EQ(parallel_reduce(values.begin(), values.end(), 1L, std::plus<>{}, square, {.grain = 7}),
                333328333350001);
      EXPECT_EQ(parallel_reduce(values, 0L), 4999950000);
      EXPECT_EQ(parallel_reduce(values.begin(), values.begin() + 3, 0), 3);
      EXPECT_EQ(parallel_reduce(values, 0, [](int a, int b) { return std::max(a, b); }), 99999);
      EXPECT_EQ(parallel_reduce(values.begin(), values.begin(), 5), 5);
    });
  });
}

TEST(parallel_reduce, runs_over_iota_of_integers_of_64_bits) {
  on_runtimes([](runtime& rt) {
    rt.run([] {
      const auto all = std::views::iota(-4000L, 5001L);
      const long sum = 9001L * 500;
      EXPECT_EQ(parallel_reduce(all, 0L), sum);
      EXPECT_EQ(parallel_reduce(all.begin(), all.end(), 0L), sum);
      EXPECT_EQ(parallel_reduce(all, 0L, std::plus<>{}, [](long i) { return 2 * i; }), 2 * sum);
      EXPECT_EQ(
          parallel_reduce(all, 0L, [](long a, long b) { return a + b; }, std::identity{}, {.grain = 10}),
          sum);
      const auto most = std::numeric_limits<std::size_t>::max();
      EXPECT_EQ(parallel_reduce(std::views::iota(most - 5000, most), std::size_t{0},
                                [](std::size_t a, std::size_t b) { return std::max(a, b); }),
                most - 1);
      EXPECT_EQ(parallel_reduce(std::views::iota(7L, 7L), 42L), 42);
    });
  });
}

TEST(parallel_reduce, yields_several_values_at_once) {
  using three = std::tuple<long, int, int>;
  std::vector<int> values(10000);
  std::iota(values.begin(), values.end(), -5000);
  on_runtimes([&](runtime& rt) {
    const auto [sum, least, most] = rt.run([&] {
      return parallel_reduce(
          values, three{0, 0, 0},
          [](const three& a, const three& b) {
            return three{std::get<0>(a) + std::get<0>(b), std::min(std::get<1>(a), std::get<1>(b)),
                         std::max(std::get<2>(a), std::get<2>(b))};
          },
          [](int value) { return three{value, value, value}; });
    });
    EXPECT_EQ(sum, -5000);
    EXPECT_EQ(least, -5000);
    EXPECT_EQ(most, 4999);
  });
}

TEST(parallel_reduce, gives_a_map_of_parts_whole_blocks) {
  using histogram = std::array<int, 16>;
  const auto count_in = [](std::span<const int> part) {
    histogram counts{};
    for (const int value : part) ++counts[static_cast<std::size_t>(value)];
    return counts;
  };
  const auto add = [](histogram a, const histogram& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  };
  std::vector<int> values(100003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i % 16);
  on_runtimes([&](runtime& rt) {
    const auto counts =
        rt.run([&] { return parallel_reduce(std::as_const(values), histogram{}, add, count_in); });
    for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts[i], 6250 + (i < 3));
    std::atomic<int> blocks{0};
    const int length = rt.run([&] {
      return parallel_reduce(0, 1003, 0, std::plus<>{},
                             [&](int first, int last) {
                               ++blocks;
                               EXPECT_EQ(first % 10, 0);
                               return last - first;
                             },
                             {.grain = 10});
    });
    EXPECT_EQ(length, 1003);
    EXPECT_EQ(blocks, 101);
  });
}

// A histogram of 4096 bins is combined 128 times for a million elements, a sum 1024 times.
TEST(parallel_reduce, combines_large_values_less_often) {
  constexpr int count = 1 << 20;
  const auto blocks = []<class T>(T value) {
    int calls = 0;  // one worker
    static_cast<void>(parallel_reduce(
        0, count, value, [](T a, const T&) { return a; },
        [&](int, int) {
          ++calls;
          return T{};
        }));
    return calls;
  };
  runtime rt({.workers = 1});
  rt.run([&] {
    EXPECT_EQ(blocks(0.0), 1024);
    EXPECT_EQ(blocks(std::array<int, 4096>{}), 128);
  });
}

TEST(parallel_reduce, adds_up_any_count_of_floating_point_numbers_exactly) {
  for (int n = 0; n < 300; ++n) {
    EXPECT_EQ(parallel_reduce(0, n, 0.0, std::plus<>{}, [](int i) { return static_cast<double>(i); },
                              {.grain = 100}),
              n * (n - 1) / 2.0);
    EXPECT_EQ(parallel_reduce(0, n, 3.0F, std::multiplies<>{}, [](int i) { return i % 7 == 3 ? 2.0F : 1.0F; },
                              {.grain = 500}),
              3.0F * std::ldexp(1.0F, (n + 3) / 7));
  }
}

TEST(parallel_reduce, of_expensive_maps_is_shared_and_right) {
  constexpr int n = under_sanitizer ? 10 : 15;
  on_runtimes([](runtime& rt) {
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(rt.run([] { return parallel_reduce(0, 300, 0L, std::plus<>{}, [](int) { return fib(n); }); }),
                300 * fib(n));
    }
  });
}

// A worker adds up a block of quick iterations at once. Several workers add up a block of slow ones by
// pieces.
TEST(parallel_reduce, is_bitwise_the_same_whether_the_map_is_quick_or_slow) {
  for (const int count : {1, 15, 33, 64, 500, 512, 513, 3000}) {
    double quick = 0;
    for (int i = 0; i < 3; ++i)  // the second call knows that the map is quick
      quick = parallel_reduce(0, count, 0.0, std::plus<>{}, [](int k) { return 1.0 / (k + 1); });
    on_runtimes([&](runtime& rt) {
      const auto slow = rt.run([&] {
        return parallel_reduce(0, count, 0.0, std::plus<>{}, [](int k) {
          fib(under_sanitizer ? 8 : 12);
          return 1.0 / (k + 1);
        });
      });
      EXPECT_EQ(slow, quick);
    });
  }
}

// Not in every round: the other worker may come too late.
TEST(parallel_reduce, of_few_slow_iterations_is_shared) {
  runtime rt{{.workers = 2}};
  bool is_shared = false;
  for (int round = 0; round < 1000 && !is_shared; ++round) {
    std::array<std::atomic<int>, 2> ran_on{};
    const long sum = rt.run([&] {
      return parallel_reduce(0, 40, 0L, std::plus<>{}, [&](int) {
        ++ran_on[*worker_index()];
        return fib(15);
      });
    });
    EXPECT_EQ(sum, 40 * 610);
    is_shared = ran_on[0] != 0 && ran_on[1] != 0;
  }
  EXPECT_TRUE(is_shared);
}

TEST(parallel_reduce, and_scans_call_no_comma_of_the_program) {
  runtime rt{{.workers = 2}};
  std::vector<expressions::number> numbers(1000, {1});
  rt.run([&] {
    EXPECT_EQ(parallel_reduce(numbers, expressions::number{}).value, 1000);
    parallel_inclusive_scan(numbers, numbers.begin());
    EXPECT_EQ(parallel_reduce(numbers.begin(), numbers.end(), 0, std::plus<>{},
                              [](const expressions::number& each) { return each.value; }),
              500500);
  });
  EXPECT_EQ(numbers.back().value, 1000);
}

TEST(parallel_reduce, throws_what_the_map_throws) {
  runtime rt{{.workers = 2}};
  EXPECT_THROW(rt.run([] {
    return parallel_reduce(0, 1000, 0, std::plus<>{},
                           [](int i) { return i == 500 ? throw std::out_of_range("map") : i; });
  }),
               std::out_of_range);
}

}  // namespace
}  // namespace teff::test
