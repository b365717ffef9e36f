// The flags and wakes between the workers of a replay, on their interleavings.
#include <gtest/gtest.h>
#include <teff/detail/replay/replay_plan.hpp>

#include "interleavings.hpp"
#include "scheduler/idle_gate.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;

template <class T>
struct without_release : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  void store(T value, std::memory_order) { checked::atomic<T>::store(value, std::memory_order_relaxed); }
};
template <class T>
struct without_acquire : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  T load(std::memory_order) const { return checked::atomic<T>::load(std::memory_order_relaxed); }
};

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
  EXPECT_NE(check_columns<columns<without_release>>(2, 3).fault, "");
  EXPECT_NE(check_columns<columns<without_acquire>>(2, 3).fault, "");
}

TEST(replay_model, finds_a_worker_that_goes_on_an_iteration_too_early) {
  EXPECT_NE(check_columns<columns<>>(3, 3, checked::barrier_everywhere, 1).fault, "");
  EXPECT_NE((check_columns<columns<checked::atomic, 2>>(3, 3, checked::barrier_everywhere, 1).fault), "");
}

TEST(replay_model, finds_a_sleeper_without_its_barrier) {
  EXPECT_NE(check_columns<columns<>>(2, 4, [] {}).fault, "");
}

}  // namespace
}  // namespace teff::test
