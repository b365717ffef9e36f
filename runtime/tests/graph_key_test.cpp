// How keys are printed and hashed.
#include <teff/task_graph.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

using teff::detail::key_text;

struct cell {
  int row, column;
  bool operator==(const cell&) const = default;
};
enum class phase : std::uint8_t { first, second };
struct step {
  cell of;
  phase in;
  std::int8_t shift;
};
struct packed {
  unsigned low : 16, high : 16;
};
struct printed {
  int value;
  friend std::ostream& operator<<(std::ostream& out, const printed& key) { return out << '#' << key.value; }
};
struct derived : cell {
  int layer;
};
struct with_array {
  int first[2];
  int second;
};
struct titled {
  std::string title;
  long number;
  bool operator==(const titled&) const = default;
};
struct padded {
  double value;
  char unit;
  bool operator==(const padded&) const = default;
};
struct long_one {
  int a, b, c, d, e, f, g;
  bool operator==(const long_one&) const = default;
};
struct angle {
  int degrees;
  friend bool operator==(const angle& a, const angle& b) { return a.degrees % 360 == b.degrees % 360; }
};
struct label {
  std::string_view name;
  angle at;
  phase in;
  std::int8_t layer, row, column;
  bool operator==(const label&) const = default;
};

}  // namespace

template <>
struct std::hash<angle> {
  std::size_t operator()(const angle& key) const noexcept {
    return static_cast<std::size_t>(key.degrees % 360);
  }
};

namespace {

// Whether `a` and `b` are one key. Fails if == and the hash disagree.
template <class Key>
testing::AssertionResult one_key(const Key& a, const Key& b) {
  const teff::key_hash<Key> hash;
  if (teff::detail::equal_keys(a, b) != (hash(a) == hash(b)))
    return testing::AssertionFailure() << "== and the hash contradict each other";
  return a == b ? testing::AssertionSuccess() : testing::AssertionFailure() << "they are two";
}

struct own_address {
  int number;
  bool operator==(const own_address&) const = default;
  void operator&() const = delete;
};

TEST(graph_key, may_have_an_address_operator_of_its_own) {
  teff::runtime rt{{.workers = 1}};
  std::atomic<int> sum{0};
  teff::task_graph<own_address> graph{rt};
  graph.indegree([](const own_address&) { return 1; });
  graph.body([&](const own_address& key) { sum += key.number; });
  for (int each = 0; each < 10; ++each) graph.fulfill({each});
  graph.wait();
  EXPECT_EQ(sum, 45);
}

TEST(graph_key, is_printed_by_its_operator_or_its_parts) {
  EXPECT_EQ(key_text(42), "42");
  EXPECT_EQ(key_text(std::string("block 7")), "block 7");
  EXPECT_EQ(key_text(std::array{3, 7}), "(3, 7)");
  EXPECT_EQ(key_text(std::tuple(1, 'x', std::pair(2L, 3U))), "(1, x, (2, 3))");
  EXPECT_EQ(key_text(std::vector{4, 5}), "(4, 5)");
  EXPECT_EQ(key_text(std::uint8_t{65}), "65");
  EXPECT_EQ(key_text(phase::second), "1");
  EXPECT_EQ(key_text(cell{3, 7}), "(3, 7)");
  EXPECT_EQ(key_text(step{{3, 7}, phase::first, -2}), "((3, 7), 0, -2)");
  EXPECT_EQ(key_text(packed{1, 2}), "(1, 2)");
  EXPECT_EQ(key_text(label{"top", {7}, phase::first, 1, 2, 3}), "(top, (7), 0, 1, 2, 3)");
  EXPECT_EQ(key_text(printed{5}), "#5");
}

TEST(graph_key, whose_parts_are_unknown_is_printed_as_a_key_without_an_operator) {
  EXPECT_EQ(key_text(derived{{1, 2}, 3}), "a key without operator<<");
  EXPECT_EQ(key_text(with_array{{1, 2}, 3}), "a key without operator<<");
  EXPECT_EQ(key_text(long_one{1, 2, 3, 4, 5, 6, 7}), "a key without operator<<");
}

TEST(graph_key, of_a_plain_structure_is_named_in_errors) {
  teff::runtime rt{{.workers = 1}};
  teff::task_graph<cell> graph{rt};
  graph.indegree([](cell) { return 2; }).body([](cell) {});
  graph.fulfill({3, 7});
  try {
    graph.wait();
    FAIL() << "nothing was thrown";
  } catch (const teff::never_satisfied& error) {
    EXPECT_NE(std::string(error.what()).find("(3, 7) (1 of 2)"), std::string::npos) << error.what();
  }
}

TEST(graph_key, has_a_hash_that_depends_on_no_address) {
  const std::string here = "block 7";
  const std::string there = here;
  const std::string_view a = here;
  const std::string_view b = there;
  EXPECT_TRUE(one_key(a, b));
  EXPECT_TRUE(one_key(std::pair(a, 1), std::pair(b, 1)));
  EXPECT_FALSE(one_key(std::pair(a, 1), std::pair(b, 2)));
  EXPECT_TRUE(one_key(std::array{a, b}, std::array{b, a}));
  EXPECT_TRUE(one_key(std::vector{a}, std::vector{b}));
  EXPECT_TRUE(one_key(label{a, {7}, phase::first, 1, 2, 3}, label{b, {367}, phase::first, 1, 2, 3}));
  EXPECT_FALSE(one_key(label{a, {7}, phase::first, 1, 2, 3}, label{b, {7}, phase::second, 1, 2, 3}));

  teff::runtime rt{{.workers = 1}};
  teff::task_graph<std::string_view> graph{rt};
  int ran = 0;
  graph.indegree([](std::string_view) { return 2; }).body([&](std::string_view) { ++ran; });
  graph.fulfill(a);
  graph.fulfill(b);
  graph.wait();
  EXPECT_EQ(ran, 1);
}

TEST(graph_key, is_hashed_by_its_own_std_hash) {
  EXPECT_TRUE(one_key(angle{10}, angle{370}));
  EXPECT_FALSE(one_key(angle{10}, angle{20}));
  EXPECT_TRUE(one_key(std::tuple(angle{10}, 1), std::tuple(angle{370}, 1)));
  EXPECT_TRUE(one_key(std::vector{angle{10}}, std::vector{angle{370}}));
  EXPECT_TRUE(one_key(0.0, -0.0));
}

TEST(graph_key, may_be_a_range_a_structure_or_an_enumeration) {
  EXPECT_TRUE(one_key(std::vector{1, 2}, std::vector{1, 2}));
  EXPECT_FALSE(one_key(std::vector{1, 2}, std::vector{2, 1}));
  EXPECT_FALSE(one_key(std::vector{1, 2}, std::vector{1, 2, 3}));
  EXPECT_TRUE(one_key(std::vector{true, false}, std::vector{true, false}));
  EXPECT_TRUE(one_key(std::map<std::string, int>{{"a", 1}}, std::map<std::string, int>{{"a", 1}}));
  EXPECT_TRUE(one_key(cell{3, 7}, cell{3, 7}));
  EXPECT_FALSE(one_key(cell{3, 7}, cell{7, 3}));
  EXPECT_TRUE(one_key(long_one{1, 2, 3, 4, 5, 6, 7}, long_one{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(one_key(long_one{1, 2, 3, 4, 5, 6, 7}, long_one{1, 2, 3, 4, 5, 6, 8}));
  EXPECT_TRUE(one_key(titled{"sum", 1}, titled{"sum", 1}));
  EXPECT_FALSE(one_key(titled{"sum", 1}, titled{"max", 1}));
  EXPECT_TRUE(one_key(padded{0.0, 'x'}, padded{-0.0, 'x'}));
  EXPECT_FALSE(one_key(padded{1.0, 'x'}, padded{1.0, 'y'}));
  EXPECT_FALSE(one_key(phase::first, phase::second));
  EXPECT_FALSE(one_key(std::tuple(phase::first, 'x'), std::tuple(phase::second, 'x')));
  EXPECT_FALSE(one_key(std::array<int, 40>{}, std::array<int, 40>{1}));

  teff::runtime rt{{.workers = 2}};
  teff::task_graph<std::vector<int>> graph{rt};
  std::atomic<int> ran{0};
  graph.indegree([](const std::vector<int>& key) { return static_cast<int>(key.size()); })
      .body([&](const std::vector<int>&) { ++ran; });
  for (int i = 0; i < 3; ++i) graph.fulfill({1, 2, 3});
  graph.fulfill({1});
  graph.wait();
  EXPECT_EQ(ran, 2);
}

// If these types were sequences, their hash would contradict their ==.
static_assert(!teff::detail::sequence<std::unordered_set<int>> &&
              !teff::detail::sequence<std::filesystem::path>);

}  // namespace
