// A distributed replay drops waits that other waits ensure.
#include <gtest/gtest.h>
#include <teff/detail/distributed/rank_plan.hpp>

#include <map>
#include <vector>

namespace teff::test {
namespace {

using detail::rank_need;
using detail::rank_worker;

constexpr rank_worker second_rank{1, 0};
constexpr rank_worker third_rank{2, 0};

// A need says: "task `index` of `worker` waits for task `index` of `on`, so many iterations before".
std::vector<rank_need> left_of(std::vector<rank_need> needs) {
  return detail::reduced(std::move(needs), {{second_rank, 4}, {third_rank, 4}});
}

TEST(rank_plan, a_wait_for_the_latest_task_of_a_worker_is_enough) {
  const auto left =
      left_of({{0, 0, {second_rank, 1}, 0}, {0, 0, {second_rank, 3}, 0}, {0, 1, {second_rank, 2}, 0}});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].on.index, 3U);
}

TEST(rank_plan, each_waiter_and_each_awaited_worker_counts_for_itself) {
  EXPECT_EQ(
      left_of({{0, 0, {second_rank, 1}, 0}, {1, 0, {second_rank, 1}, 0}, {0, 0, {third_rank, 1}, 0}}).size(),
      3U);
}

TEST(rank_plan, what_was_waited_for_in_the_iteration_before_is_known) {
  // The worker has waited for task 3 of the iteration before in that iteration.
  const auto left =
      left_of({{0, 1, {second_rank, 3}, 0}, {0, 0, {second_rank, 2}, 1}, {0, 0, {second_rank, 3}, 2}});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].before, 0);
}

TEST(rank_plan, what_a_later_task_waits_for_is_not_known_to_an_earlier_one) {
  EXPECT_EQ(left_of({{0, 0, {second_rank, 1}, 0}, {0, 1, {second_rank, 2}, 0}}).size(), 2U);
}

TEST(rank_plan, as_many_outputs_are_kept_as_readers_need_and_small_ones_twice) {
  EXPECT_EQ(detail::outputs_kept(64 << 10, 0), 1U);
  EXPECT_EQ(detail::outputs_kept(64 << 10, 1), 2U);
  EXPECT_EQ(detail::outputs_kept(64 << 10, 2), 4U);
  EXPECT_EQ(detail::outputs_kept(16, 1), 4U);
}

}  // namespace
}  // namespace teff::test
