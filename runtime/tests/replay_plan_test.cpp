// Which tasks of a recording wait for which flags.
#include <gtest/gtest.h>
#include <teff/detail/replay/replay_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teff::test {
namespace {

// The waits of all parts.
std::size_t waits(const std::vector<std::uint32_t>& tasks, const std::vector<detail::replay_edge>& edges,
                  bool overlap = true) {
  std::size_t all = 0;
  const detail::replay_plan plan(tasks, edges, overlap);
  for (const auto& each : plan.parts()) all += each.waits.size();
  return all;
}

TEST(replay_plan, a_dependence_between_tasks_of_one_worker_needs_no_wait) {
  EXPECT_EQ(waits({2, 0}, {{{0, 0}, {0, 1}, false}, {{0, 1}, {0, 0}, true}}), 0U);
}

TEST(replay_plan, a_worker_that_has_waited_for_a_later_task_does_not_wait_for_an_earlier_one) {
  // (1, 0) waits for (0, 1). So (1, 1), which depends on (0, 0) and (0, 1), needs no wait.
  EXPECT_EQ(waits({2, 2}, {{{0, 1}, {1, 0}, false}, {{0, 0}, {1, 1}, false}, {{0, 1}, {1, 1}, false}}), 1U);
  // A task that depends on two tasks waits for the later one.
  EXPECT_EQ(waits({2, 1}, {{{0, 0}, {1, 0}, false}, {{0, 1}, {1, 0}, false}}), 1U);
  // The worker has waited for the task already, in the iteration before.
  EXPECT_EQ(waits({2, 1}, {{{0, 1}, {1, 0}, false}, {{0, 1}, {1, 0}, true}}), 1U);
  EXPECT_EQ(waits({2, 2}, {{{0, 0}, {1, 1}, false}, {{0, 1}, {1, 0}, true}}), 2U);
}

TEST(replay_plan, iterations_that_don_t_overlap_wait_for_the_last_task_of_each_other_worker) {
  EXPECT_EQ(waits({2, 3, 1}, {}, false), 6U);
  EXPECT_EQ(waits({2, 0, 0}, {}, false), 0U);
  EXPECT_EQ(waits({2, 3, 1}, {}, true), 0U);
}

TEST(replay_plan, a_flag_is_waited_for_as_often_as_it_was_raised) {
  // (1, 0) waits for (0, 1), the only task of worker 0 that raises a flag.
  detail::replay_plan plan({3, 2}, std::vector<detail::replay_edge>{{{0, 1}, {1, 0}, false}}, true);
  plan.reset();
  const auto& reader = plan.parts()[1];
  ASSERT_EQ(reader.waits.size(), 1U);
  EXPECT_EQ(reader.waits[0].count(0), 1U);
  EXPECT_EQ(reader.waits[0].count(7), 8U);
  EXPECT_TRUE(reader.waits[0].reached(0));
  EXPECT_FALSE(reader.waits[0].reached(1));
  const auto& writer = plan.parts()[0];
  ASSERT_EQ(writer.signals_sent.size(), 1U);
  EXPECT_EQ(writer.tasks[0].signals_end, 0U);
  EXPECT_EQ(writer.tasks[1].signals_end, 1U);
}

TEST(replay_plan, a_flag_of_the_program_is_raised_once_for_all_workers_that_wait_for_the_task) {
  // (1, 0) and (2, 0) wait for (0, 0). (1, 1) waits for (0, 1), which has the same flag.
  detail::replay_flag<> shared;
  const detail::replay_plan plan(
      {2, 2, 1},
      std::vector<detail::replay_edge>{
          {{0, 0}, {1, 0}, false}, {{0, 0}, {2, 0}, false}, {{0, 1}, {1, 1}, false}},
      true, {{&shared, &shared}, {nullptr, nullptr}, {nullptr}});
  const auto& writer = plan.parts()[0];
  ASSERT_EQ(writer.signals_sent.size(), 3U);
  EXPECT_EQ(writer.signals_sent[0].flag, &shared);
  EXPECT_EQ(writer.signals_sent[1].flag, nullptr);
  EXPECT_EQ(writer.signals_sent[1].worker, 2U);
  EXPECT_EQ(writer.signals_sent[2].flag, &shared);
  EXPECT_EQ(plan.parts()[1].waits[0].count(5), 11U);
  EXPECT_EQ(plan.parts()[1].waits[1].count(5), 12U);
  EXPECT_EQ(plan.parts()[2].waits[0].count(5), 11U);
}

}  // namespace
}  // namespace teff::test
