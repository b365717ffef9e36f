// Recordings of flows: the calls that they refuse, and the order in which a replay runs the tasks.
#include <gtest/gtest.h>
#include <teff/flow.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <semaphore>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flow/flow_recording.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

TEST(flow_recording, a_replay_runs_the_tasks_again_as_if_they_were_made_again) {
  on_runtimes([&](runtime& rt) {
    flow f{rt};
    std::array<std::uint64_t, 10> x{};
    std::array<std::uint64_t, 10> expected{};
    std::uint64_t sum = 0;
    std::uint64_t expected_sum = 0;
    const auto relax = [](auto& at, std::size_t i) {
      at[i] = at[i] * 3 + at[(i + 1) % 10] + at[(i + 9) % 10] + i;
    };
    auto step = f.record([&] {
      for (std::size_t i = 0; i < 10; ++i)
        f.task(task_options{.place = static_cast<unsigned>(i)}, inout(x[i]), in(x[(i + 1) % 10]),
               in(x[(i + 9) % 10]), [&, i] { relax(x, i); });
      for (std::size_t i = 0; i < 10; ++i)
        f.task(in(x[i]), reduction(sum), [&, i](std::uint64_t& mine) { mine += x[i]; });
    });
    step.replay(20);
    step.replay(3);
    for (int n = 0; n < 24; ++n) {
      for (std::size_t i = 0; i < 10; ++i) relax(expected, i);
      for (const auto each : expected) expected_sum += each;
    }
    EXPECT_EQ(x, expected);
    EXPECT_EQ(sum, expected_sum);
    EXPECT_EQ(step.tasks(), 20U);
  });
}

TEST(flow_recording, tasks_within_recorded_tasks_are_refused) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int x = 0;
  EXPECT_NE(text_of<not_replayable>([&] {
              static_cast<void>(f.record([&] { f.task(inout(x), [&] { f.task(inout(x), [&] { ++x; }); }); }));
            }).find("made tasks in its body"),
            std::string::npos);
  bool again = false;
  auto step = f.record([&] {
    f.task(inout(x), [&] {
      if (again) f.task(inout(x), [] {});
    });
  });
  again = true;
  EXPECT_NE(text_of<not_replayable>([&] { step.replay(); }).find("body of a replayed task"),
            std::string::npos);
}

TEST(flow_recording, a_recording_that_was_moved_from_is_not_replayed) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int x = 0;
  auto step = f.record([&] { f.task(inout(x), [&] { ++x; }); });
  auto moved = std::move(step);
  EXPECT_NE(text_of<misuse>([&] { step.replay(); }).find("was moved from"), std::string::npos);
  EXPECT_EQ(step.tasks(), 0);
  moved.replay();
  EXPECT_EQ(x, 2);
}

TEST(flow_recording, a_replay_runs_the_tasks_of_a_worker_in_the_order_of_the_recorded_run) {
  runtime rt{{.workers = 2}};
  std::array<int, 4> x{};
  std::vector<int> order;
  std::binary_semaphore made{0};
  bool waits = true;
  flow f{rt};
  auto step = f.record([&] {
    f.task(task_options{.priority = 9, .place = 1}, inout(x[0]), [&] {
      if (waits) made.acquire();
    });
    // Ready while the worker is in the body above, which it leaves when all are made.
    for (int i = 1; i < 4; ++i)
      f.task(task_options{.priority = i, .place = 1}, inout(x[static_cast<std::size_t>(i)]),
             [&order, i] { order.push_back(i); });
    made.release();
  });
  EXPECT_EQ(order, (std::vector{3, 2, 1}));
  waits = false;
  order.clear();
  step.replay(2);
  EXPECT_EQ(order, (std::vector{3, 2, 1, 3, 2, 1}));
}

// Its bodies ran in another order than the replay, which orders them as writers, may run them in.
TEST(flow_recording, a_replay_of_commutative_tasks_ends_though_they_ran_in_another_order) {
  runtime rt{{.workers = 2}};
  std::array<int, 3> x{};
  int sum = 0;
  std::binary_semaphore made{0};
  bool waits = true;
  flow f{rt};
  auto step = f.record([&] {
    f.task(task_options{.priority = 9, .place = 1}, inout(x[0]), [&] {
      if (waits) made.acquire();
    });
    for (int i = 1; i < 3; ++i)
      f.task(task_options{.priority = i, .place = 1}, commutative(sum), in(x[static_cast<std::size_t>(i)]),
             [&] { ++sum; });
    made.release();
  });
  waits = false;
  step.replay(5);
  EXPECT_EQ(sum, 12);
}

TEST(flow_recording, a_flow_that_is_cancelled_meanwhile_is_not_recorded) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int x = 0;
  EXPECT_NE(text_of<not_replayable>([&] {
              static_cast<void>(f.record([&] {
                f.task(inout(x), [&] { ++x; });
                f.cancel();
                f.task(inout(x), [&] { ++x; });
              }));
            }).find("was cancelled, and only"),
            std::string::npos);
  auto step = f.record([&] { f.task(inout(x), [&] { x = 7; }); });
  x = 0;
  step.replay();
  EXPECT_EQ(x, 7);
}

// By each task of two iterations: the tasks that end before it begins.
std::vector<std::vector<bool>> ends_before(const detail::recorded_waits& waits) {
  const auto tasks = waits.tasks;
  std::vector<std::set<std::size_t>> ended(waits.groups.size());
  std::vector<std::vector<std::size_t>> awaited(2 * tasks);
  for (std::size_t i = 0; i < waits.groups.size(); ++i) {
    const auto& [members, earlier, followers] = waits.groups[i];
    ended[i].insert(members.begin(), members.end());
    for (const auto each : earlier) ended[i].insert(ended[each].begin(), ended[each].end());
    for (const auto each : followers) awaited[each].push_back(i);
  }
  std::vector<std::vector<bool>> all(2 * tasks, std::vector<bool>(2 * tasks));
  const auto add = [&](std::size_t task, std::size_t group, std::size_t first) {
    for (const auto member : ended[group]) {
      all[task][first + member] = true;
      for (std::size_t i = 0; i < 2 * tasks; ++i)
        if (all[first + member][i]) all[task][i] = true;
    }
  };
  for (std::size_t task = 0; task < 2 * tasks; ++task) {
    for (const auto group : awaited[task]) add(task, group, 0);
    if (task >= tasks)
      for (const auto group : awaited[task - tasks]) add(task, group, tasks);
  }
  return all;
}

TEST(flow_recording, a_group_before_a_group_costs_a_wait_for_each_member) {
  std::array<char, 100> x{};
  std::vector<detail::flow_record> made;
  for (int i = 0; i < 1000; ++i) made.push_back({nullptr, {concurrent(x)}});
  for (int i = 0; i < 1000; ++i) made.push_back({nullptr, {in(x), in(section(x, 0, 50))}});
  runtime rt{{.workers = 2}};
  const auto core = detail::make_flow(detail::private_access::internals(rt), 2);
  const detail::recorded_waits found(*core, made);
  std::size_t waits = 0;
  for (const auto& each : found.groups)
    waits += each.members.size() + each.earlier.size() + each.followers.size();
  EXPECT_LE(waits, 4 * 2 * made.size());
  // Two workers take turns: the first of each follower's list waits for the last of each list before.
  std::vector<std::vector<detail::replay_task>> places;
  for (std::uint32_t i = 0; i < made.size(); ++i) places.push_back({{i % 2, i / 2}});
  const auto edges = found.edges(places);
  const auto count = [&](std::uint32_t from, std::uint32_t to, bool next) {
    return std::ranges::count_if(edges, [&](const detail::replay_edge& each) {
      return each.from.index == from && each.to.index == to && each.into_next_iteration == next;
    });
  };
  EXPECT_EQ(count(499, 500, false), 2 * 2);
  EXPECT_EQ(count(999, 0, true), 2 * 2 * 2);  // for each part of x
  EXPECT_EQ(edges.size(), 3 * 2 * 2);
}

TEST(flow_recording, a_writer_of_a_part_waits_for_the_readers_of_all_and_of_the_part) {
  std::array<char, 8> x{};
  const auto part = section(x, 0, 4);
  const std::vector<detail::flow_record> made{
      {nullptr, {in(x)}}, {nullptr, {in(part)}}, {nullptr, {out(part)}}};
  runtime rt{{.workers = 2}};
  const auto core = detail::make_flow(detail::private_access::internals(rt), 2);
  std::set<std::array<std::uint32_t, 3>> waits;  // from which worker, to which, in the next iteration
  for (const auto& each : detail::recorded_waits(*core, made).edges({{{0, 0}}, {{1, 0}}, {{2, 0}}}))
    waits.insert({each.from.worker, each.to.worker, each.into_next_iteration ? 1U : 0U});
  EXPECT_EQ(waits, (std::set<std::array<std::uint32_t, 3>>{{0, 2, 0}, {1, 2, 0}, {2, 0, 1}, {2, 1, 1}}));
}

// A stencil of two columns: a task reads what both columns wrote in the step before, and overwrites what was
// read six steps before.
TEST(flow_recording, waits_that_others_imply_are_left_out) {
  constexpr std::size_t steps = 7;
  std::array<std::array<char, 2>, steps> x{};
  std::vector<detail::flow_record> made;
  using waits = std::set<std::pair<std::size_t, std::size_t>>;  // of the second task for the first
  waits for_the_step_before;
  for (std::size_t step = 0; step < steps; ++step)
    for (std::size_t column = 0; column < 2; ++column) {
      const auto& read = x[(step + steps - 1) % steps];
      made.push_back({nullptr, {in(read[0]), in(read[1]), out(x[step][column])}});
      for (std::size_t other = 0; other < 2; ++other)
        for_the_step_before.emplace(2 * step + column, 2 * (step + 1) + other);
    }
  runtime rt{{.workers = 2}};
  const auto core = detail::make_flow(detail::private_access::internals(rt), 2);
  detail::recorded_waits found(*core, made);
  const auto all = [&found] {
    waits each_of;
    for (const auto& each : found.groups)
      for (const auto member : each.members)
        for (const auto follower : each.followers) each_of.emplace(member, follower);
    return each_of;
  };
  EXPECT_TRUE(all().contains({0, 12}));
  found.drop_implied();
  EXPECT_EQ(all(), for_the_step_before);
}

// Each task of random programs begins after the same tasks as before, by way of others or not.
TEST(flow_recording, random_programs_keep_their_order_without_the_waits_that_others_imply) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t limit) { return random() % limit; };
  std::array<char, 64> x{};
  runtime rt{{.workers = 2}};
  const auto core = detail::make_flow(detail::private_access::internals(rt), 2);
  for (int program = 0; program < (under_sanitizer ? 50 : 200); ++program) {
    std::vector<detail::flow_record> made(1 + below(program == 0 ? 1500 : 40));
    for (auto& each : made)
      for (std::size_t i = below(4); i-- > 0;) {
        const auto some = section(x, below(16), 1 + below(program % 2 == 0 ? 1 : 48));
        each.accesses.push_back(below(3) == 0 ? out(some) : below(4) == 0 ? concurrent(some) : in(some));
      }
    detail::recorded_waits waits(*core, made);
    const auto before = ends_before(waits);
    waits.drop_implied();
    ASSERT_EQ(ends_before(waits), before) << "program " << program;
  }
}

TEST(flow_recording, a_check_does_not_begin_while_the_flow_is_recorded) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  EXPECT_NE(text_of<misuse>([&] {
              static_cast<void>(f.record([&] { f.check(true); }));
            }).find("check: called while"),
            std::string::npos);
}

}  // namespace
}  // namespace teff::test
