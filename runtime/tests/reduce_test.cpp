#include "workers.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

namespace teff::test {
namespace {

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
