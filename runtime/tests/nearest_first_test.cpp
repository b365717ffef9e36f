#include "scheduler/nearest_first.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace teff::test {
namespace {

using order = std::vector<int>;

order looked_at(const detail::nearest_first<int>& others, std::uint64_t random) {
  order looked;
  others.look_at_each(random, [&](int other) {
    looked.push_back(other);
    return false;
  });
  return looked;
}

// The tens of a number are its distance: 11 and 12 are nearest, 31 is farthest.
detail::nearest_first<int> three_classes() {
  return {{31, 22, 11, 23, 12, 21}, [](int other) { return other / 10; }};
}

TEST(nearest_first, looks_at_each_class_of_distance_before_the_classes_farther_away) {
  for (std::uint64_t random = 0; random < 12; ++random) {
    const auto looked = looked_at(three_classes(), random);
    ASSERT_EQ(looked.size(), 6U);
    for (std::size_t i = 1; i < looked.size(); ++i) EXPECT_LE(looked[i - 1] / 10, looked[i] / 10) << random;
    EXPECT_EQ(std::set(looked.begin(), looked.end()), (std::set{11, 12, 21, 22, 23, 31}));
  }
}

TEST(nearest_first, begins_each_class_where_the_random_number_says) {
  EXPECT_EQ(looked_at(three_classes(), 0), (order{11, 12, 22, 23, 21, 31}));
  EXPECT_EQ(looked_at(three_classes(), 1), (order{12, 11, 23, 21, 22, 31}));
  EXPECT_EQ(looked_at(three_classes(), 5), (order{12, 11, 21, 22, 23, 31}));
}

TEST(nearest_first, stops_at_the_first_worker_that_has_work) {
  int looks = 0;
  three_classes().look_at_each(0, [&](int other) { return ++looks, other == 22; });
  EXPECT_EQ(looks, 3);
}

TEST(nearest_first, looks_at_two_workers_of_each_distance_at_a_time_and_at_all_in_turn) {
  std::set<int> seen;
  for (std::uint64_t turn = 5; turn < 7; ++turn) {
    order looked;
    three_classes().look_at_some(turn, [&](int other) {
      looked.push_back(other);
      return false;
    });
    ASSERT_EQ(looked.size(), 5U);
    for (std::size_t i = 1; i < looked.size(); ++i) EXPECT_LE(looked[i - 1] / 10, looked[i] / 10) << turn;
    seen.insert(looked.begin(), looked.end());
  }
  EXPECT_EQ(seen, (std::set{11, 12, 21, 22, 23, 31}));
  int looks = 0;
  three_classes().look_at_some(0, [&](int other) { return ++looks, other == 22; });
  EXPECT_EQ(looks, 3);
}

TEST(nearest_first, without_other_workers_looks_at_none) {
  EXPECT_TRUE(looked_at({}, 7).empty());
  detail::nearest_first<int>().look_at_some(7, [](int) { return ADD_FAILURE(), true; });
}

}  // namespace
}  // namespace teff::test
