// The flags, wakes and lists of the workers of a replay, on their interleavings.
#include <gtest/gtest.h>
#include <teff/detail/replay/replay_list.hpp>
#include <teff/detail/replay/replay_plan.hpp>

#include "interleavings.hpp"
#include "scheduler/idle_gate.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;

// Two columns of a stencil, one for each worker, which keep the outputs of two steps. Each task waits for the
// other column's task of the step before. A column has one flag, or one for each of its two outputs.
template <template <class> class Atomic = checked::atomic, int Flags = 1>
struct columns {
  columns() {
    futex::wakes.clear();
    for (auto& each : flags) each[0].set(1);  // step 0 was recorded
  }
  void run(unsigned me, int steps, const std::function<void()>& barrier, int lag = 0) {
    for (int i = 1; i <= steps; ++i) {
      const int before = i - 1;
      const auto raises = static_cast<std::uint64_t>(before / Flags + 1 - lag);
      if (!wait(me, flags[1 - me][before % Flags], raises, barrier)) return;
      if (outputs[1 - me][before % 2].read() != before) checker::fail("the output of another step");
      outputs[me][i % 2].write(i);
      flags[me][i % Flags].raise();
      gate.wake(1 - me);
    }
  }
  void fail(unsigned me) {
    failed.store(1, std::memory_order_release);
    gate.wake(1 - me);
  }
  // The steps of worker::block_until() without the spinning.
  bool wait(unsigned me, const detail::replay_flag<Atomic>& flag, std::uint64_t count,
            const std::function<void()>& barrier) {
    const auto done = [&] { return flag.reached(count) || failed.load(std::memory_order_relaxed) != 0; };
    while (!done()) {
      gate.start_search();
      static_cast<void>(gate.prepare_sleep(me, detail::wake_for::name));
      barrier();
      if (done()) {
        gate.cancel_sleep(me, detail::wake_for::name);
      } else {
        gate.sleep(me);
      }
      static_cast<void>(gate.stop_search());
    }
    return failed.load(std::memory_order_relaxed) == 0;
  }

  detail::idle_gate<futex> gate{2};
  detail::replay_flag<Atomic> flags[2][Flags];
  checked::atomic<int> failed{0};
  checked::plain outputs[2][2];
};

template <class World>
checker::outcome check(const std::vector<std::function<void(World&)>>& threads, int preemptions) {
  return checked::check_threads<World>([] { return std::make_shared<World>(); }, threads, [](World&) {},
                                       preemptions);
}

template <class World>
checker::outcome check_columns(int steps, int preemptions,
                               const std::function<void()>& barrier = checked::barrier_everywhere,
                               int lag = 0) {
  return check<World>(
      {[=](World& w) { w.run(0, steps, barrier, lag); }, [=](World& w) { w.run(1, steps, barrier, lag); }},
      preemptions);
}

TEST(replay_model, steps_follow_each_other_by_flags_that_count_up) {
  for (const auto& [steps, preemptions] : {std::pair(2, 4), std::pair(4, 3)}) {
    expect_no_fault(check_columns<columns<>>(steps, preemptions), 100'000);
  }
}

TEST(replay_model, steps_follow_each_other_by_a_flag_for_each_of_two_outputs) {
  expect_no_fault(check_columns<columns<checked::atomic, 2>>(4, 3), 100'000);
}

TEST(replay_model, a_worker_that_sleeps_hears_of_a_failure) {
  expect_no_fault(check<columns<>>({[](auto& w) { w.run(0, 4, checked::barrier_everywhere); },
                                    [](auto& w) {
                                      w.run(1, 3, checked::barrier_everywhere);
                                      w.fail(1);
                                    }},
                                   3));
}

TEST(replay_model, finds_a_flag_that_is_raised_without_release_or_read_without_acquire) {
  EXPECT_NE(check_columns<columns<checked::without_release>>(2, 3).fault, "");
  EXPECT_NE(check_columns<columns<checked::without_acquire>>(2, 3).fault, "");
}

TEST(replay_model, finds_a_worker_that_goes_on_an_iteration_too_early) {
  EXPECT_NE(check_columns<columns<>>(3, 3, checked::barrier_everywhere, 1).fault, "");
  EXPECT_NE((check_columns<columns<checked::atomic, 2>>(3, 3, checked::barrier_everywhere, 1).fault), "");
}

TEST(replay_model, finds_a_sleeper_without_its_barrier) {
  EXPECT_NE(check_columns<columns<>>(2, 4, [] {}).fault, "");
}

// ---- Lists that other workers run ----

// An exchange in two steps.
template <class T>
struct in_two_steps : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) {
    if (this->load(std::memory_order_acquire) != expected) return false;
    this->store(desired, std::memory_order_relaxed);
    return true;
  }
};

enum class fault { none, leaves_without_a_wake, sleeps_without_a_barrier };

// Two columns as two lists. With `one_way` only list 0 waits for the other list. Each worker runs its own
// list, and the other one as soon as its own list waits: here no worker has any patience. After task
// `gives_way_after`, counted in all of its tasks, a worker leaves a list as if it gave its core away.
template <template <class> class Atomic = checked::atomic>
struct lists {
  static constexpr std::uint32_t none = ~0U;

  explicit lists(bool only_list_0_waits, fault seeded) : one_way(only_list_0_waits), with(seeded) {
    futex::wakes.clear();
    for (std::uint32_t i : {0U, 1U}) {
      of[i].reset(i);
      flags[i].set(1);
    }
  }
  void run(std::uint32_t me, std::uint32_t gives_way_after = none) {
    std::uint32_t count = 0;
    for (;;) {
      const auto list = wait_for_list(me);
      if (list == none) return;
      auto next = of[list].next();
      bool stays = true;
      bool gives_way = false;
      while (stays && next.iteration != tasks && can_run(list, next)) {
        run_task(list, static_cast<int>(next.iteration) + 1);
        ++next.iteration;
        gives_way = ++count == gives_way_after;
        stays = !gives_way && (list == me || !(of[list].is_wanted() || can_run(me, of[me].next())));
      }
      leave(me, list, next, gives_way);
    }
  }
  // Of each list, iteration i is one task.
  [[nodiscard]] bool can_run(std::uint32_t list, detail::replay_position next) const {
    return !waits(list) || flags[1 - list].reached(next.iteration + 1);
  }
  [[nodiscard]] bool waits(std::uint32_t list) const { return list == 0 || !one_way; }
  void run_task(std::uint32_t list, int step) {
    if (waits(list) && outputs[1 - list][step - 1].read() != step - 1) checker::fail("not run before");
    if (ran[list].read() != step - 1) checker::fail("twice, or out of order");
    ran[list].write(step);
    outputs[list][step].write(step);
    flags[list].raise();
    if (waits(1 - list)) gate.wake(1 - list);
  }
  void leave(std::uint32_t me, std::uint32_t list, detail::replay_position next, bool gives_way) {
    of[list].leave(next, gives_way ? detail::replay_list<>::any_worker : of[list].is_wanted() ? list : me);
    if (with == fault::leaves_without_a_wake) return;
    if (list != me) gate.wake(list);
    if (gives_way) gate.wake(1 - me);
  }
  // The steps of replay_turn::take_list() and worker::block_until() without the spinning.
  std::uint32_t wait_for_list(std::uint32_t me) {
    std::uint32_t found = none;
    while (!finds_list(me, found)) {
      gate.start_search();
      static_cast<void>(gate.prepare_sleep(me, detail::wake_for::name));
      if (with != fault::sleeps_without_a_barrier) checked::barrier_everywhere();
      if (finds_list(me, found)) {
        gate.cancel_sleep(me, detail::wake_for::name);
      } else {
        gate.sleep(me);
      }
      static_cast<void>(gate.stop_search());
    }
    return found;
  }
  bool finds_list(std::uint32_t me, std::uint32_t& found) {
    if (found != none || of[me].next().iteration == tasks) return true;
    std::uint32_t at = me;
    if (!can_run(me, of[me].next())) {
      at = 1 - me;
      if (of[at].is_held() || !can_run(at, of[at].next())) return false;
    }
    if (of[at].take(me, true)) found = at;
    if (found == none && at == me) of[me].want();
    return found != none;
  }

  static constexpr std::uint32_t tasks = 2;  // of a list
  const bool one_way;
  const fault with;
  detail::idle_gate<futex> gate{2};
  detail::replay_list<Atomic> of[2];
  detail::replay_flag<checked::atomic> flags[2];
  checked::plain outputs[2][tasks + 1];
  checked::plain ran[2];  // of a list, touched by tasks of this list alone
};

template <template <class> class Atomic = checked::atomic>
checker::outcome check_lists(bool one_way, std::uint32_t gives_way_after, fault with = fault::none) {
  using world = lists<Atomic>;
  return checked::check_threads<world>(
      [=] { return std::make_shared<world>(one_way, with); },
      {[](world& w) { w.run(0); }, [=](world& w) { w.run(1, gives_way_after); }},
      [](world& w) {
        for (const auto& each : w.flags)
          if (!each.reached(world::tasks + 1)) checker::fail("a task has not run");
      },
      2);
}

TEST(replay_model, workers_run_each_others_lists_in_order_and_each_task_once) {
  for (const bool one_way : {false, true}) {
    expect_no_fault(check_lists(one_way, lists<>::none), 1000);
    expect_no_fault(check_lists(one_way, 1), 1000);
  }
}

TEST(replay_model, finds_a_list_that_is_taken_in_two_steps_or_left_without_release) {
  EXPECT_NE(check_lists<in_two_steps>(false, lists<>::none).fault, "");
  EXPECT_NE(check_lists<checked::without_release>(false, lists<>::none).fault, "");
}

TEST(replay_model, finds_a_list_that_is_left_without_a_wake_of_its_own_worker) {
  EXPECT_NE(check_lists(true, lists<>::none, fault::leaves_without_a_wake).fault, "");
}

TEST(replay_model, finds_a_worker_that_waits_for_a_list_and_sleeps_without_its_barrier) {
  EXPECT_NE(check_lists(false, lists<>::none, fault::sleeps_without_a_barrier).fault, "");
}

}  // namespace
}  // namespace teff::test
