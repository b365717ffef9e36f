// A distributed replay drops waits that other waits ensure.
#include <gtest/gtest.h>
#include <teff/detail/distributed/replay_ranks.hpp>
#include <teff/detail/replay/replay_plan.hpp>

#include <cstdint>
#include <vector>

namespace teff::test {
namespace {

using need = detail::replay_need;

constexpr std::uint64_t second_rank = 1;
constexpr std::uint64_t third_rank = 2;

// Each other worker has four tasks.
std::vector<need> left_of(std::vector<need> needs) {
  detail::drop_known(needs, [](std::uint64_t) { return 4; });
  return needs;
}

TEST(rank_plan, a_wait_for_the_latest_task_of_a_worker_is_enough) {
  const auto left = left_of({{0, 0, second_rank, 1}, {0, 0, second_rank, 3}, {0, 1, second_rank, 2}});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].position, 3);
}

TEST(rank_plan, each_waiter_and_each_awaited_worker_counts_for_itself) {
  EXPECT_EQ(left_of({{0, 0, second_rank, 1}, {1, 0, second_rank, 1}, {0, 0, third_rank, 1}}).size(), 3U);
}

TEST(rank_plan, what_was_waited_for_in_the_iteration_before_is_known) {
  // The worker has waited for task 3 of the iteration before in that iteration.
  const auto left =
      left_of({{0, 1, second_rank, 3}, {0, 0, second_rank, 2 - 4}, {0, 0, second_rank, 3 - 2 * 4}});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].position, 3);
}

TEST(rank_plan, what_a_later_task_waits_for_is_not_known_to_an_earlier_one) {
  EXPECT_EQ(left_of({{0, 0, second_rank, 1}, {0, 1, second_rank, 2}}).size(), 2U);
}

TEST(rank_plan, as_many_outputs_are_kept_as_readers_need_and_small_ones_twice) {
  EXPECT_EQ(detail::outputs_kept(64 << 10, 0), 1U);
  EXPECT_EQ(detail::outputs_kept(64 << 10, 1), 2U);
  EXPECT_EQ(detail::outputs_kept(64 << 10, 2), 4U);
  EXPECT_EQ(detail::outputs_kept(16, 1), 4U);
}

}  // namespace
}  // namespace teff::test
