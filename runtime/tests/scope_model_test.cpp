// The end of a scope on its interleavings. It comes once all tasks of the scope have ended, on any worker and
// in any scope's part. The owner then sees what they did.
#include <gtest/gtest.h>

#include "scope_world.hpp"

#include <string>

namespace teff::test {
namespace {

class scope_model : public testing::Test {
 protected:
  scope_model() {
    world::seeded = fault::none;
    world::most_told = 0;
  }
};

TEST_F(scope_model, a_scope_ends_after_tasks_that_a_thief_takes_in_a_row) {
  expect_no_fault(check({nothing, nothing, nothing}, {owner_of(3, 3), thief_of({0}, 2)}, {.preemptions = 3}));
  EXPECT_EQ(world::most_told, 2);  // a thief told it of two tasks at once
}

TEST_F(scope_model, a_scope_ends_after_a_task_that_a_stolen_task_spawned_into_it) {
  expect_no_fault(check({spawns(1), nothing}, {owner_of(1, 2), thief_of({0}, 1)},
                        {.preemptions = 3, .victims = {1}, .looks = 1}));
}

TEST_F(scope_model, a_scope_ends_after_a_task_that_a_second_thief_took_from_the_first) {
  expect_no_fault(
      check({spawns(1), nothing}, {owner_of(1, 2), thief_of({0}, 1), thief_of({1}, 1)}, {.preemptions = 2}));
}

TEST_F(scope_model, a_scope_ends_after_tasks_in_a_younger_scopes_part) {
  const auto owner = [](world& w) {
    {
      scope outer;
      {
        scope inner;
        outer.spawn(0);
        inner.spawn(1);
      }
      w.expect_ended(1);
    }
    w.expect_ended(0);
  };
  expect_no_fault(check({nothing, nothing}, {owner, thief_of({0}, 2)}, {.preemptions = 3}));
}

// A scope whose part has one slot. The scope uses the slot again after wait(), or when the slot was stolen
// and a thief asks.
const threads one_slot = {[](world& w) {
                            scope own;
                            own.spawn(0);
                            own.wait();
                            w.expect_ended(0);
                            w.flag.store(1);
                            own.spawn(1);
                            w.deques[0].ask();  // as another thief does
                            own.spawn(2);
                            own.wait();
                            w.expect_ended(1);
                            w.expect_ended(2);
                          },
                          [](world& w) {
                            w.look_for_work({0}, 1);
                            checker::now().wait_until([&w] { return w.flag.peek() == 1; });
                            w.look_for_work({0}, 1);
                          }};

TEST_F(scope_model, a_slot_that_was_stolen_is_used_again) {
  expect_no_fault(check({nothing, fence, nothing}, one_slot, {.window = 1, .preemptions = 3}));
}

TEST_F(scope_model, a_thief_tells_a_scope_before_it_runs_a_task_that_the_last_task_left) {
  // Task 0, of the inner scope, spawns task 1 into the outer scope. Task 1 waits for the end of the inner
  // scope.
  const auto owner = [](world& w) {
    scope outer;
    w.shared = &outer;
    {
      scope inner;
      inner.spawn(0);
      inner.wait();
      w.expect_ended(0);
    }
    w.flag.store(1);
    outer.wait();
    w.expect_ended(1);
  };
  const auto waits = [](world& w) {
    if (world::me() != 0) checker::now().wait_until([&w] { return w.flag.peek() == 1; });
  };
  expect_no_fault(check({spawns(1), waits}, {owner, thief_of({0}, 1)}, {.preemptions = 3}));
}

TEST_F(scope_model, a_thief_tells_a_scope_before_it_turns_to_another) {
  // Task 1 waits for the end of the scope of task 0, which the same thief may have run just before.
  const auto owner = [](world& w) {
    scope own;
    own.spawn(0);
    own.wait();
    w.expect_ended(0);
    w.flag.store(1);
  };
  const auto other = [](world& w) {
    scope own;
    own.spawn(1);
    checker::now().wait_until([&w] { return w.flag.peek() == 1; });  // so that a thief takes it
    own.wait();
    w.expect_ended(1);
  };
  const auto waits = [](world& w) { checker::now().wait_until([&w] { return w.flag.peek() == 1; }); };
  expect_no_fault(check({nothing, waits}, {owner, other, thief_of({0, 1}, 1)}, {.preemptions = 2}));
}

TEST_F(scope_model, an_owner_that_sleeps_is_woken) {
  expect_no_fault(check({nothing}, {owner_of(1, 1), thief_of({0}, 1)}, {.preemptions = 3, .sleeps = true}));
}

// Faults that the checker must find.

TEST_F(scope_model, finds_a_task_that_is_counted_after_its_push) {
  world::seeded = fault::counts_after_push;
  const std::string early = "the scope ended before task 0";
  const auto waits = check({spawns(1), nothing}, {owner_of(1, 2), thief_of({0}, 1)},
                           {.preemptions = 3, .victims = {1}, .looks = 1});
  EXPECT_EQ(waits.fault, early);
  const auto two_thieves =
      check({spawns(1), nothing}, {owner_of(1, 2), thief_of({0}, 1), thief_of({1}, 1)}, {.preemptions = 2});
  EXPECT_EQ(two_thieves.fault, early);
}

TEST_F(scope_model, finds_a_thief_that_does_not_tell_that_a_task_has_ended) {
  world::seeded = fault::does_not_tell;
  EXPECT_EQ(check({nothing}, {owner_of(1, 1), thief_of({0}, 1)}, {}).fault, "deadlock: every thread waits");
}

TEST_F(scope_model, finds_a_task_whose_end_releases_nothing) {
  world::seeded = fault::ends_without_release;
  EXPECT_EQ(check({nothing}, {owner_of(1, 1), thief_of({0}, 1)}, {}).fault, "data race");
}

TEST_F(scope_model, finds_a_thief_that_moves_a_task_out_of_its_slot_without_release) {
  world::seeded = fault::moves_out_without_release;
  EXPECT_EQ(check({nothing, nothing, nothing}, one_slot, {.window = 1, .preemptions = 3}).fault, "data race");
}

}  // namespace
}  // namespace teff::test
