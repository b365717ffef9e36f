#include "workers.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

constexpr int longest_power = under_sanitizer ? 14 : 17;  // of two, in elements

// Arrays that are hard for some sorts: few values, sorted, reversed, organ pipes.
std::vector<int> some_array(std::mt19937_64& random) {
  const auto below = [&](int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random); };
  std::vector<int> values(static_cast<std::size_t>(below(1 << below(longest_power + 1))));
  const int kind = below(5);
  const int most = 1 << below(30);
  const auto n = static_cast<int>(values.size());
  for (int i = 0; i < n; ++i) {
    values[static_cast<std::size_t>(i)] = kind == 0   ? i
                                          : kind == 1 ? n - i
                                          : kind == 2 ? std::min(i, n - i)
                                                      : below(most);
  }
  return values;
}

TEST(parallel_sort, sorts_as_the_standard_library_does) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 20; ++round) {
      auto values = some_array(random);
      auto expected = values;
      std::sort(expected.begin(), expected.end());
      rt.run([&] { parallel_sort(values); });
      ASSERT_EQ(values, expected);
      rt.run([&] { parallel_sort(values.begin(), values.end(), std::greater<>{}); });
      std::reverse(expected.begin(), expected.end());
      ASSERT_EQ(values, expected);
    }
  });
}

TEST(parallel_stable_sort, keeps_equal_elements_in_their_order) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::pair<int, std::size_t>> values;
      for (const int key : some_array(random)) values.emplace_back(key % 100, values.size());
      auto expected = values;
      std::sort(expected.begin(), expected.end());
      rt.run([&] { parallel_stable_sort(values, [](auto a, auto b) { return a.first < b.first; }); });
      ASSERT_EQ(values, expected);
    }
  });
}

// Clang before 16 can't compile any view of a view of GCC's library.
#if !defined(__clang__) || __clang_major__ >= 16
// Two workers write elements beside each other.
static_assert(std::is_same_v<detail::shared_buffer<bool>::reference, bool&>);

TEST(parallel_stable_sort, sorts_flags) {
  std::mt19937 random;
  const auto flags = std::make_unique<bool[]>(20'000);
  const std::span<bool> all(flags.get(), 20'000);
  for (bool& each : all) each = random() % 2 != 0;
  const auto set = std::ranges::count(all, true);
  runtime rt{{.workers = 2}};
  rt.run([&] { parallel_stable_sort(all); });
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(std::ranges::count(all, true), set);
}

TEST(parallel_sort, sorts_the_elements_that_a_view_refers_to) {
  std::mt19937 random(1);
  for (const std::size_t count : {0UL, 1UL, 20UL, 1000UL, 50'000UL}) {
    std::vector<std::string> expected(count);
    for (auto& each : expected) each = std::to_string(random() % 10'000);
    auto elements = expected;
    std::ranges::sort(expected);
    auto view = std::views::iota(std::size_t{0}, count) |
                std::views::transform([&](std::size_t i) -> std::string& { return elements[i]; });
    const auto shuffled = elements;
    parallel_sort(view);
    EXPECT_EQ(elements, expected);
    elements = shuffled;
    parallel_stable_sort(view.begin(), view.end());
    EXPECT_EQ(elements, expected);
    std::vector<int> numbers(count);
    for (auto& each : numbers) each = static_cast<int>(random() % 10'000);
    parallel_sort(std::views::iota(0L, static_cast<long>(count)) | std::views::transform([&](long i) -> int& {
                    return numbers[static_cast<std::size_t>(i)];
                  }));
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
  }
}
#endif

TEST(parallel_sort, moves_elements_that_can_not_be_copied) {
  on_runtimes([](runtime& rt) {
    std::deque<std::unique_ptr<int>> values;
    for (int i = 0; i < 30000; ++i) values.push_back(std::make_unique<int>(i * 7919 % 30000));
    const auto less = [](const auto& a, const auto& b) { return *a < *b; };
    rt.run([&] { parallel_sort(values, less); });
    for (int i = 0; i < 30000; ++i) ASSERT_EQ(*values[static_cast<std::size_t>(i)], i);
    std::reverse(values.begin(), values.end());
    rt.run([&] { parallel_stable_sort(values.begin(), values.end(), less); });
    for (int i = 0; i < 30000; ++i) ASSERT_EQ(*values[static_cast<std::size_t>(i)], i);
  });
}

TEST(parallel_sort, never_needs_a_quadratic_number_of_comparisons) {
  for (const int kind : {0, 1, 2, 3}) {
    std::vector<int> values(100000);
    for (int i = 0; i < 100000; ++i)
      values[static_cast<std::size_t>(i)] = kind == 0   ? 5
                                            : kind == 1 ? i
                                            : kind == 2 ? i % 2
                                                        : std::min(i, 100000 - i);
    std::atomic<long> comparisons{0};
    parallel_sort(values, [&](int a, int b) {
      ++comparisons;
      return a < b;
    });
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    EXPECT_LT(comparisons, 10'000'000) << kind;
  }
}

TEST(parallel_sort, throws_what_the_comparison_throws_and_leaves_elements_that_can_be_assigned_to) {
  on_runtimes([](runtime& rt) {
    std::vector<std::string> values;
    for (int i = 0; i < 20000; ++i)
      values.push_back("a string that is longer than short ones " + std::to_string(i * 7919 % 20000));
    std::atomic<int> left{100000};
    const auto less = [&](const std::string& a, const std::string& b) {
      return --left == 0 ? throw std::out_of_range("less") : a < b;
    };
    EXPECT_THROW(rt.run([&] { parallel_sort(values, less); }), std::out_of_range);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::to_string(i * 7919 % 20000);
    left = 100000;
    EXPECT_THROW(rt.run([&] { parallel_stable_sort(values, less); }), std::out_of_range);
    std::fill(values.begin(), values.end(), "may be assigned to");
  });
}

// An element that says whether it belongs to the sorted range. A sort must not look at elements beside it.
struct guarded {
  int value = 0;
  bool inside = false;
};

// Sorts `count` elements in the middle of others by a function that is no order. Expects the same elements
// there.
template <class T, class Less>
void expect_no_harm(int count, T (*make)(int value, bool inside), int (*value_of)(const T&), Less less,
                    void (*sort)(T*, T*, Less)) {
  constexpr std::size_t around = 5000;
  const auto inside = static_cast<std::size_t>(count);
  std::vector<T> all(around, make(0, false));
  std::vector<int> expected;
  for (int i = 0; i < count; ++i) {
    expected.push_back(i % 7);
    all.push_back(make(i % 7, true));
  }
  all.resize(all.size() + around, make(0, false));
  sort(all.data() + around, all.data() + around + inside, less);
  std::vector<int> values;
  for (std::size_t i = around; i < around + inside; ++i) values.push_back(value_of(all[i]));
  std::sort(values.begin(), values.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(values, expected) << count;
}

TEST(parallel_sort, by_a_function_that_is_no_order_ends_and_stays_within_the_elements) {
  static std::atomic<bool> left{false};
  static std::atomic<unsigned> calls{0};
  left = false;
  const auto of = [](const guarded& a) { return a.value; };
  const auto make = [](int value, bool inside) { return guarded{value, inside}; };
  const auto make_int = [](int value, bool inside) { return inside ? value : -1; };
  const auto with = [&](auto compare) {
    for (const int count : {1, 30, 40, 1000, 3000, under_sanitizer ? 5'000 : 100'000}) {
      const auto less = [compare](const guarded& a, const guarded& b) {
        if (!a.inside || !b.inside) left = true;
        return static_cast<bool>(compare(a.value, b.value));
      };
      const auto less_int = [compare](int a, int b) {
        if (a < 0 || b < 0) left = true;
        return static_cast<bool>(compare(a, b));
      };
      using less_t = std::remove_const_t<decltype(less)>;
      using less_int_t = std::remove_const_t<decltype(less_int)>;
      expect_no_harm<guarded, less_t>(count, make, of, less,
                                      [](guarded* a, guarded* b, less_t by) { parallel_sort(a, b, by); });
      expect_no_harm<guarded, less_t>(
          count, make, of, less, [](guarded* a, guarded* b, less_t by) { parallel_stable_sort(a, b, by); });
      expect_no_harm<int, less_int_t>(
          count, make_int, [](const int& a) { return a; }, less_int,
          [](int* a, int* b, less_int_t by) { parallel_sort(a, b, by); });
    }
    EXPECT_FALSE(left);
  };
  with([](int a, int b) { return a <= b; });
  with([](int a, int b) { return a >= b; });
  with([](int, int) { return true; });
  with([](int, int) { return calls.fetch_add(1) * 2654435761U >> 16 & 1; });
  with([](int a, int b) { return (a + 1) % 7 == b; });  // a circle
}

}  // namespace
}  // namespace teff::test
