// A place that another worker takes tasks from, on its interleavings: one thread at a time uses it, and the
// source is not found at rest before all of its tasks have run.
#include <gtest/gtest.h>
#include <teff/detail/task_source/rest.hpp>

#include "interleavings.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace teff::test {
namespace {

using checked::checker;

struct faults {
  bool thief_enters = true;
  bool taken_task_is_an_item = true;
  bool owner_comes_back = true;
};

template <template <class> class Atomic>
struct world {
  explicit world(faults seeded) : with(seeded) {}

  void come_back(unsigned place) {
    while (!accounts[place].enter()) checker::now().pause();
  }

  // The worker of account 0 has taken an item from outside, which makes two tasks ready in its place. It
  // steps out to run the first, comes back, and runs what is left.
  void own() {
    come_back(0);
    ready.write(2);
    ready.write(ready.read() - 1);
    accounts[0].leave();
    first.write(1);
    if (with.owner_comes_back) come_back(0);
    if (ready.read() != 0) {
      ready.write(0);
      second.write(second.read() + 1);
    }
    accounts[0].say_ended(1);
    if (with.owner_comes_back) accounts[0].leave();
  }
  // The worker of account 1 finds nothing to do.
  void thief() {
    if (with.thief_enters && !accounts[0].enter()) return;
    const bool takes = ready.read() != 0;
    if (takes && with.taken_task_is_an_item) accounts[1].begin_one();
    ready.write(0);
    if (with.thief_enters) accounts[0].leave();
    if (!takes) return;
    second.write(second.read() + 1);
    if (with.taken_task_is_an_item) accounts[1].say_ended(1);
  }
  // A thread that waits for the source looks once, and clears the place if it is at rest.
  void wait() {
    checker::now().wait_until([this] { return accounts[0].ended.peek() != 0; });
    if (items_left(accounts, begun_outside) != 0) return;
    if (first.read() != 1 || second.read() != 1) checker::fail("found at rest too early");
    come_back(0);
    ready.write(0);
    accounts[0].leave();
  }

  const faults with;
  std::array<detail::task_account<Atomic>, 2> accounts;
  Atomic<std::uint64_t> begun_outside{1};
  checked::plain ready;  // tasks that lie in the place
  checked::plain first;  // how often the tasks ran
  checked::plain second;
};

template <template <class> class Atomic = checked::atomic>
checker::outcome check(faults with) {
  using all = world<Atomic>;
  return checked::check_threads<all>([with] { return std::make_shared<all>(with); },
                                     {&all::own, &all::thief, &all::wait}, [](all&) {}, 3);
}

TEST(places_model, one_thread_at_a_time_is_in_a_place_and_rest_waits_for_the_tasks_that_were_taken) {
  expect_no_fault(check({}), 1000);
}

TEST(places_model, finds_a_thief_that_does_not_enter_the_place) {
  EXPECT_NE(check({.thief_enters = false}).fault, "");
}

TEST(places_model, finds_a_taken_task_that_is_no_item) {
  EXPECT_NE(check({.taken_task_is_an_item = false}).fault, "");
}

TEST(places_model, finds_a_worker_that_does_not_come_back_to_its_place) {
  EXPECT_NE(check({.owner_comes_back = false}).fault, "");
}

TEST(places_model, finds_a_place_that_is_left_without_a_release) {
  EXPECT_NE(check<checked::without_release>({}).fault, "");
}

}  // namespace
}  // namespace teff::test
