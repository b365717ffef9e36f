#include "workers.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <random>
#include <ranges>
#include <stdexcept>
#include <vector>

namespace teff::test {
namespace {

TEST(parallel_find_if, finds_the_first_of_many) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 50; ++round) {
      std::vector<char> marked(1 + below(std::size_t{1} << below(18)));
      for (auto marks = below(5); marks > 0; --marks) marked[below(marked.size())] = 1;
      const auto expected = std::find(marked.begin(), marked.end(), 1);
      rt.run([&] {
        EXPECT_EQ(parallel_find_if(marked, [](char mark) { return mark == 1; }), expected);
        EXPECT_EQ(parallel_find(marked.begin(), marked.end(), 1), expected);
        EXPECT_EQ(
            parallel_find_if(std::size_t{0}, marked.size(), [&](std::size_t i) { return marked[i] == 1; }),
            static_cast<std::size_t>(expected - marked.begin()));
        EXPECT_EQ(parallel_any_of(marked, [](char mark) { return mark == 1; }), expected != marked.end());
        EXPECT_EQ(parallel_none_of(marked, [](char mark) { return mark == 1; }), expected == marked.end());
        EXPECT_EQ(parallel_all_of(marked, [](char mark) { return mark == 0; }), expected == marked.end());
      });
    }
  });
}

TEST(parallel_find_if, finds_the_first_also_with_expensive_predicates) {
  on_runtimes([](runtime& rt) {
    const int found = rt.run([] {
      return parallel_find_if(0, 1000,
                              [](int i) { return fib(10) == 55 && (i == 700 || i == 200 || i > 800); });
    });
    EXPECT_EQ(found, 200);
  });
}

TEST(parallel_find_if, finds_nothing_in_an_empty_loop) {
  std::vector<int> none;
  EXPECT_EQ(parallel_find_if(none, [](int) { return true; }), none.end());
  EXPECT_EQ(parallel_find(none, 3), none.end());
  EXPECT_EQ(parallel_find_if(5, 5, [](int) { return true; }), 5);
  EXPECT_FALSE(parallel_any_of(5, 5, [](int) { return true; }));
  EXPECT_TRUE(parallel_all_of(none.begin(), none.end(), [](int) { return false; }));
  EXPECT_TRUE(parallel_none_of(5, 4, [](int) { return true; }));
}

TEST(parallel_find_if, runs_over_iota_of_integers_of_64_bits) {
  on_runtimes([](runtime& rt) {
    rt.run([] {
      const auto least = std::numeric_limits<long>::min();
      const auto all = std::views::iota(least, std::numeric_limits<long>::max());
      EXPECT_EQ(*parallel_find_if(all, [&](long i) { return i >= least + 5000; }), least + 5000);
      EXPECT_EQ(*parallel_find(all, least + 3), least + 3);
      const auto few = std::views::iota(std::size_t{10}, std::size_t{5000});
      EXPECT_EQ(parallel_find(few, std::size_t{9}), few.end());
      EXPECT_EQ(*parallel_find(few.begin(), few.end(), std::size_t{4999}), 4999U);
      EXPECT_TRUE(parallel_any_of(few, [](std::size_t i) { return i == 4999; }));
      EXPECT_FALSE(parallel_all_of(few, [](std::size_t i) { return i != 4999; }));
      EXPECT_TRUE(parallel_none_of(few, [](std::size_t i) { return i > 4999; }));
      const auto none = std::views::iota(4L, 4L);
      EXPECT_EQ(parallel_find(none, 4L), none.end());
      EXPECT_TRUE(parallel_all_of(none, [](long) { return false; }));
    });
  });
}

TEST(parallel_find_if, leaves_most_of_the_loop_when_it_has_found) {
  on_runtimes([](runtime& rt) {
    std::atomic<long> calls{0};
    const auto found = rt.run([&] {
      return parallel_find_if(0L, 1'000'000'000'000L, [&](long i) {
        calls.fetch_add(1, std::memory_order_relaxed);
        return i >= 1000;
      });
    });
    EXPECT_EQ(found, 1000);
    EXPECT_LT(calls, 100'000'000);
  });
}

TEST(parallel_find_if, throws_what_the_predicate_throws) {
  on_runtimes([](runtime& rt) {
    EXPECT_THROW(rt.run([] {
      return parallel_find_if(0, 10000,
                              [](int i) { return i == 5000 ? throw std::out_of_range("predicate") : false; });
    }),
                 std::out_of_range);
  });
}

}  // namespace
}  // namespace teff::test
