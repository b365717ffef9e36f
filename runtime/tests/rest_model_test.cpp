// When a source of tasks is at rest, on its interleavings: a task whose end is held by another thread, which
// also brings a further task before it lets go.
#include <gtest/gtest.h>
#include <teff/detail/task_source/rest.hpp>

#include "interleavings.hpp"

#include <array>
#include <memory>

namespace teff::test {
namespace {

using checked::checker;

struct faults {
  bool hold_begins_an_item = true;
  bool waiter_counts_itself_first = true;
  bool looks_before_it_is_quiet = true;
};

template <template <class> class Atomic>
struct world {
  using end = detail::held_end<Atomic>;

  explicit world(faults seeded) : with(seeded), held(nullptr, nullptr, 0) {}

  // The worker of account 0 has taken the task, an item from outside, and runs its body.
  void work() {
    auto& mine = accounts[0];
    std::uint64_t items = 1;
    if (with.hold_begins_an_item) mine.begin_one();
    may_release.store(1, std::memory_order_release);
    body.write(1);
    bool task_ended = held.let_go();
    if (task_ended) ++items;
    const std::uint64_t all = with.hold_begins_an_item ? 3 : 2;
    for (bool further_ran = false;;) {
      say_ended(items);
      if (items >= all && further_ran) return;
      checker::now().wait_until(
          [&] { return (!further_ran && further.peek() != 0) || (!task_ended && !released_is_empty()); });
      if (!further_ran && further.load(std::memory_order_acquire) != 0) {
        follows.write(late.read() + 1);
        further_ran = true;
        ++items;
      }
      if (!task_ended && mine.received.take_all() != nullptr) {
        task_ended = true;
        if (with.hold_begins_an_item) ++items;
      }
      if (!with.hold_begins_an_item && further_ran && task_ended) return say_ended(items);
    }
  }
  // Does its part after the body, fulfils a further task, and lets go.
  void let_go() {
    checker::now().wait_until([&] { return may_release.peek() != 0; });
    static_cast<void>(may_release.load(std::memory_order_acquire));
    late.write(1);
    begun_outside.fetch_add(1, std::memory_order_relaxed);
    further.store(1, std::memory_order_release);
    after.write(1);
    if (held.let_go()) {
      accounts[0].received.push(held);
      pushed.store(1);
    }
  }
  void wait() {
    if (with.waiter_counts_itself_first) waiters.fetch_add(1, std::memory_order_seq_cst);
    const bool rests = items_left(accounts, begun_outside) == 0;
    if (!with.waiter_counts_itself_first) waiters.fetch_add(1, std::memory_order_seq_cst);
    if (!rests) {
      checker::now().wait_until([&] { return woken.peek() != 0; });
      if (items_left(accounts, begun_outside) != 0) checker::fail("woken without rest");
    }
    if (body.read() != 1 || late.read() != 1 || follows.read() != 2 || after.read() != 1)
      checker::fail("found at rest too early");
  }

  // The worker has run tasks. In its next turn it looks for waiters, unless it is quiet.
  void say_ended(std::uint64_t items) {
    accounts[0].say_ended(items);
    if ((accounts[0].has_looked || !with.looks_before_it_is_quiet) &&
        waiters.load(std::memory_order_seq_cst) == 0 && items_left(accounts, begun_outside) == 0)
      return;
    accounts[0].order_before_look();
    if (waiters.load(std::memory_order_seq_cst) != 0 && items_left(accounts, begun_outside) == 0)
      woken.store(1);
  }
  // For wait_until(), which is no step.
  [[nodiscard]] bool released_is_empty() const { return pushed.peek() == 0; }

  const faults with;
  std::array<detail::task_account<Atomic>, 1> accounts;
  Atomic<std::uint64_t> begun_outside{1};
  end held;
  checked::atomic<int> may_release{0};
  checked::atomic<int> further{0};
  checked::atomic<int> pushed{0};
  checked::atomic<int> waiters{0};
  checked::atomic<int> woken{0};
  checked::plain body;
  checked::plain late;     // of the holder
  checked::plain after;    // of the holder, when it has fulfilled the further task
  checked::plain follows;  // of the further task
};

template <template <class> class Atomic = checked::atomic>
checker::outcome check(faults with, int preemptions) {
  using all = world<Atomic>;
  return checked::check_threads<all>([with] { return std::make_shared<all>(with); },
                                     {&all::work, &all::let_go, &all::wait}, [](all&) {}, preemptions);
}

TEST(rest_model, a_task_whose_end_is_held_keeps_its_source_from_rest_and_its_release_brings_rest) {
  expect_no_fault(check({}, 3), 10'000);
}

TEST(rest_model, finds_a_held_end_that_is_no_item) {
  EXPECT_NE(check({.hold_begins_an_item = false}, 3).fault, "");
}

TEST(rest_model, finds_a_waiter_that_looks_before_it_counts_itself) {
  EXPECT_NE(check({.waiter_counts_itself_first = false}, 3).fault, "");
}

TEST(rest_model, finds_a_worker_that_is_quiet_before_it_has_looked_for_waiters) {
  EXPECT_NE(check({.looks_before_it_is_quiet = false}, 3).fault, "");
}

TEST(rest_model, finds_ends_that_release_nothing) {
  EXPECT_NE(check<checked::without_release>({}, 3).fault, "");
}

}  // namespace
}  // namespace teff::test
