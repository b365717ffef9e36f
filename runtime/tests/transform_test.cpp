#include "workers.hpp"

#include <atomic>
#include <cstddef>
#include <limits>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace teff::test {
namespace {

TEST(parallel_transform, writes_a_function_of_each_element) {
  on_runtimes([](runtime& rt) {
    for (const std::size_t n : {0, 1, 1000, 100000}) {
      std::vector<int> x(n);
      std::iota(x.begin(), x.end(), 0);
      std::vector<long> y(n, 1);
      rt.run([&] {
        EXPECT_EQ(parallel_transform(x, y.begin(), [](int each) { return 2L * each; }), y.end());
        EXPECT_EQ(parallel_transform(x, y, y.begin(), [](int a, long b) { return a + b; }), y.end());
        parallel_transform(y.begin(), y.end(), x.begin(), y.begin(), [](long a, int b) { return a - b; });
        parallel_transform(y.begin(), y.end(), y.begin(), [](long each) { return each + 1; });
      });
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], 2 * static_cast<long>(i) + 1);
    }
  });
}

TEST(parallel_transform, runs_over_iota_of_integers_of_64_bits) {
  on_runtimes([](runtime& rt) {
    rt.run([] {
      const auto least = std::numeric_limits<long>::min();
      const auto all = std::views::iota(least, least + 1000);
      std::vector<long> from_least(1000);
      EXPECT_EQ(parallel_transform(all, from_least.begin(), [&](long i) { return i - least; }),
                from_least.end());
      const auto numbers = std::views::iota(std::size_t{0}, std::size_t{1000});
      std::vector<std::size_t> sums(1000);
      parallel_transform(from_least, numbers, sums.begin(),
                         [](long i, std::size_t k) { return static_cast<std::size_t>(i) + k; });
      for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(sums[i], 2 * i);
      EXPECT_EQ(parallel_transform(numbers.begin(), numbers.end(), all.begin(), sums.begin(),
                                   [](std::size_t, long) { return 7UL; }),
                sums.end());
      EXPECT_EQ(sums.back(), 7U);
      const auto none = std::views::iota(3L, 3L);
      EXPECT_EQ(parallel_transform(none, sums.begin(), [](long) { return 0UL; }), sums.begin());
    });
  });
}

TEST(parallel_transform, throws_what_the_function_throws) {
  on_runtimes([](runtime& rt) {
    std::vector<std::string> words(1000, "word");
    words[500] = "";
    std::vector<char> first(1000);
    EXPECT_THROW(rt.run([&] {
      parallel_transform(words, first.begin(), [](const std::string& word) { return word.at(0); });
    }),
                 std::out_of_range);
  });
}

TEST(parallel_invoke, calls_each_closure_once) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> sum{0};
    rt.run([&] {
      parallel_invoke([&] { sum += 1; });
      parallel_invoke([&] { sum += 10; }, [&] { return sum += 100; });
      parallel_invoke([&] { sum += 1000; }, [&] { sum += 10000; }, [&] { sum += 100000; });
    });
    EXPECT_EQ(sum, 111111);
    EXPECT_THROW(rt.run([] { parallel_invoke([] {}, [] { throw std::out_of_range("second"); }); }),
                 std::out_of_range);
  });
}

}  // namespace
}  // namespace teff::test
