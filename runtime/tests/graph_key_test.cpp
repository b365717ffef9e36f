// How keys are printed, and hashed.
#include <teff/task_graph.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
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
struct long_one {
  int a, b, c, d, e, f, g;
};

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
  EXPECT_EQ(key_text(printed{5}), "#5");
}

TEST(graph_key, whose_parts_can_not_be_told_says_how_to_have_it_printed) {
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

}  // namespace
