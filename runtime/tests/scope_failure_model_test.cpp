// Failure in a scope on its interleavings. The waiter gets the first exception, once, when every task has
// ended or was dropped. The scope ends after any exception, and not too early.
#include <gtest/gtest.h>
#include <teff/error.hpp>

#include "scope_world.hpp"

#include <string>
#include <utility>

namespace teff::test {
namespace {

class scope_failure_model : public testing::Test {
 protected:
  scope_failure_model() {
    world::seeded = fault::none;
    world::most_dropped = 0;
  }
};

// Throws the failure of a task, or of a scope's block, and tells the world of it.
[[noreturn]] void throw_failure(world& w, int task) {
  if (w.shared->cancelled()) w.thrown_late.push_back(task);
  w.thrown.push_back(task);
  throw failure(task);
}
world::task fails(int task) {
  return [task](world& w) { throw_failure(w, task); };
}
world::task spawns_and_fails(int child, int task) {
  return [=](world& w) {
    w.shared->spawn(child);
    throw_failure(w, task);
  };
}

// As owner_of(), but the scope may fail, and is used again.
std::function<void(world&)> failing_owner_of(int count, int all, int again = scope::nobody) {
  return [=](world& w) {
    scope own;
    w.shared = &own;
    for (int task = 0; task < count; ++task) own.spawn(task);
    own.wait_for_failure();
    for (int task = 0; task < all; ++task) w.expect_ended(task);
    if (again == scope::nobody) return;
    own.spawn(again);
    if (own.wait_for_failure() != scope::nobody) checker::fail("a failure arrived twice");
    w.expect_ended(again);
    if (w.begun[static_cast<std::size_t>(again)] == 0) checker::fail("the scope was still cancelled");
  };
}

TEST_F(scope_failure_model, the_failure_of_a_task_arrives_when_all_have_ended_or_were_dropped) {
  expect_no_fault(check({fails(0), nothing, nothing}, {failing_owner_of(3, 3), thief_of({0}, 2)},
                        {.preemptions = 3, .drops = true}));
  EXPECT_EQ(world::most_dropped, 2);
}

TEST_F(scope_failure_model, of_several_failures_the_first_arrives) {
  expect_no_fault(check({fails(0), fails(1), fails(2)}, {failing_owner_of(3, 3), thief_of({0}, 2)},
                        {.preemptions = 3, .drops = true}));
}

TEST_F(scope_failure_model, a_scope_that_failed_can_be_used_again) {
  expect_no_fault(check({fails(0), fails(1), nothing}, {failing_owner_of(2, 2, 2), thief_of({0}, 2)},
                        {.preemptions = 2, .drops = true}));
}

TEST_F(scope_failure_model, a_stolen_task_fails_after_it_has_spawned_another) {
  expect_no_fault(check({spawns_and_fails(1, 0), fails(1)}, {failing_owner_of(1, 2), thief_of({0}, 1)},
                        {.preemptions = 3, .victims = {1}, .looks = 1, .drops = true}));
  EXPECT_EQ(world::most_dropped, 1);
}

TEST_F(scope_failure_model, a_second_thief_runs_what_a_stolen_task_spawned_before_it_failed) {
  expect_no_fault(check({spawns_and_fails(1, 0), fails(1)},
                        {failing_owner_of(1, 2), thief_of({0}, 1), thief_of({1}, 1)},
                        {.preemptions = 2, .drops = true}));
}

TEST_F(scope_failure_model, a_scope_whose_block_ends_throws_the_failure_of_a_task) {
  const auto owner = [](world& w) {
    int arrived = scope::nobody;
    try {
      scope own;
      w.shared = &own;
      own.spawn(0);
      own.spawn(1);
    } catch (const failure& found) {
      arrived = found.task;
    }
    w.expect_ended(0);
    w.expect_ended(1);
    if (arrived != 0) checker::fail("the failure did not arrive");
  };
  expect_no_fault(check({fails(0), nothing}, {owner, thief_of({0}, 2)}, {.preemptions = 3, .drops = true}));
}

TEST_F(scope_failure_model, a_scope_whose_block_ends_throws_the_failure_of_a_task_in_a_younger_scopes_part) {
  const auto owner = [](world& w) {
    int arrived = scope::nobody;
    try {
      scope outer;
      w.shared = &outer;
      {
        scope inner;
        outer.spawn(0);
      }
    } catch (const failure& found) {
      arrived = found.task;
    }
    w.expect_ended(0);
    if (arrived != 0) checker::fail("the failure did not arrive");
  };
  expect_no_fault(check({fails(0)}, {owner, thief_of({0}, 1)}, {.preemptions = 3}));
}

TEST_F(scope_failure_model, the_exception_of_a_block_arrives_instead_of_the_failures_of_its_tasks) {
  constexpr int block = 3;
  const auto owner = [](world& w) {
    int arrived = scope::nobody;
    try {
      scope own;
      w.shared = &own;
      own.spawn(0);
      own.spawn(1);
      throw failure(block);
    } catch (const failure& found) {
      arrived = found.task;
    }
    if (arrived != block) checker::fail("not the block's failure arrived");
    w.expect_ended(0);
    w.expect_ended(1);
  };
  expect_no_fault(check({fails(0), fails(1)}, {owner, thief_of({0}, 2)}, {.preemptions = 3, .drops = true}));
  EXPECT_EQ(world::most_dropped, 2);
}

TEST_F(scope_failure_model, a_task_of_the_outer_scope_fails_while_its_owner_waits_in_an_inner_one) {
  const auto owner = [](world& w) {
    scope outer;
    w.shared = &outer;
    outer.spawn(0);
    {
      scope inner;
      outer.spawn(1);  // lies in the inner one's part
      inner.spawn(2);
      inner.wait();
      w.expect_ended(2);
    }
    outer.wait_for_failure();
    w.expect_ended(0);
    w.expect_ended(1);
    if (w.begun[2] == 0) checker::fail("a task of a scope that did not fail was dropped");
  };
  expect_no_fault(
      check({fails(0), fails(1), nothing}, {owner, thief_of({0}, 2)}, {.preemptions = 2, .drops = true}));
}

TEST_F(scope_failure_model, a_scope_within_a_task_of_a_failed_scope_runs_its_tasks) {
  const world::task makes_a_scope = [](world& w) {
    scope inner;
    inner.spawn(2);
    inner.wait();
    w.expect_ended(2);
    if (w.begun[2] == 0) checker::fail("a task of a scope that did not fail was dropped");
  };
  expect_no_fault(check({makes_a_scope, fails(1), nothing},
                        {[](world& w) {
                           scope own;
                           w.shared = &own;
                           own.spawn(0);
                           own.spawn(1);
                           own.wait_for_failure();
                           w.expect_ended(0);
                           w.expect_ended(1);
                           if (w.begun[0] == 0) w.end(2);  // it was not spawned
                         },
                         thief_of({0}, 2)},
                        {.preemptions = 2, .victims = {1}, .looks = 1, .drops = true}));
}

TEST_F(scope_failure_model, tasks_end_or_are_dropped_when_a_thief_cancels_their_scope) {
  const world::task cancels = [](world& w) { w.shared->cancel(); };
  expect_no_fault(check({cancels, nothing, nothing}, {failing_owner_of(2, 2, 2), thief_of({0}, 2)},
                        {.preemptions = 2, .drops = true}));
  EXPECT_EQ(world::most_dropped, 1);
}

TEST_F(scope_failure_model, an_owner_that_sleeps_hears_of_a_failure) {
  expect_no_fault(check({fails(0)}, {failing_owner_of(1, 1), thief_of({0}, 1)},
                        {.preemptions = 3, .sleeps = true, .drops = true}));
}

TEST_F(scope_failure_model, a_stolen_task_that_waits_for_its_own_scope_is_refused_on_its_owner_too) {
  const world::task waits = [](world& w) {
    try {
      w.shared->wait();  // ends if the scope's end has called this task
    } catch (const misuse&) {
    }
  };
  expect_no_fault(check({spawns(1), waits}, {owner_of(1, 2), thief_of({0}, 1)},
                        {.preemptions = 2, .victims = {1}, .looks = 1}));
}

// A closure that must be boxed, since its move may throw. Its `moves`-th move throws.
struct unmovable {};
class reluctant {
 public:
  reluctant(int task, int moves) : moves_(moves), body_(task) {}
  reluctant(reluctant&& from) : moves_(from.moves_ - 1), body_(std::move(from.willing().body_)) {}
  void operator()() { body_(); }

 private:
  reluctant& willing() {
    world::now().flag.fetch_add(0);  // a step, after which all threads see the push up to here
    if (moves_ == 1) throw unmovable();
    return *this;
  }
  int moves_;
  numbered body_;
};

// The moves of a closure that spawn_slowly() pushes.
constexpr int into_spawn_slowly = 1;
constexpr int into_box = 2;

// Task 0, if it is stolen, fails to spawn task 1.
world::task spawns_in_vain(int moves) {
  return [moves](world& w) {
    try {
      w.shared->spawn_as(reluctant(1, moves));
      if (world::me() != 0) checker::fail("it was pushed");
    } catch (const unmovable&) {
    }
  };
}

// Worker 0 spawns tasks 2 and 0 into its scope.
void owner_of_two(world& w) {
  scope own;
  w.shared = &own;
  own.spawn(2);
  own.spawn(0);
  own.wait();
  for (const int task : {0, 1, 2}) w.expect_ended(task);
}

TEST_F(scope_failure_model, a_stolen_task_fails_to_spawn_another) {
  for (const int moves : {into_spawn_slowly, into_box}) {
    expect_no_fault(check({spawns_in_vain(moves), nothing, nothing}, {owner_of_two, thief_of({0}, 2)},
                          {.preemptions = 3, .drops = true}));
  }
}

TEST_F(scope_failure_model, a_scopes_owner_fails_to_spawn_a_task_into_a_younger_scopes_part) {
  const auto owner = [](world& w) {
    scope outer;
    w.shared = &outer;
    outer.spawn(0);
    {
      scope inner;
      try {
        outer.spawn_as(reluctant(1, into_box));
        checker::fail("it was pushed");
      } catch (const unmovable&) {
      }
      inner.spawn(2);
      inner.wait();
      w.expect_ended(2);
    }
    outer.wait();
    w.expect_ended(0);
  };
  expect_no_fault(
      check({nothing, nothing, nothing}, {owner, thief_of({0}, 2)}, {.preemptions = 3, .drops = true}));
}

TEST_F(scope_failure_model, a_scope_fails_to_spawn_a_task_when_all_before_it_were_stolen) {
  const auto owner = [](world& w) {
    {
      scope own;
      own.spawn(0);
      w.deques[0].ask();  // as another thief does, so that the slot is used again
      try {
        own.spawn_as(reluctant(1, into_box));
      } catch (const unmovable&) {
      }
    }
    w.expect_ended(0);
    w.expect_ended(1);
  };
  expect_no_fault(
      check({fence, nothing}, {owner, thief_of({0}, 1)}, {.window = 1, .preemptions = 3, .drops = true}));
  EXPECT_EQ(world::most_dropped, 1);
}

// Faults that the checker must find.

TEST_F(scope_failure_model, finds_a_push_that_failed_and_stays_counted) {
  world::seeded = fault::counts_what_was_not_pushed;
  EXPECT_EQ(check({spawns_in_vain(into_box), nothing, nothing}, {owner_of_two, thief_of({0}, 2)},
                  {.preemptions = 3, .drops = true})
                .fault,
            "deadlock: every thread waits");
}

TEST_F(scope_failure_model, finds_a_second_failure_that_takes_itself_for_the_first) {
  world::seeded = fault::each_failure_is_the_first;
  EXPECT_EQ(check({fails(0), fails(1)}, {failing_owner_of(2, 2), thief_of({0}, 2)}, {.drops = true}).fault,
            "data race");
}

TEST_F(scope_failure_model, finds_an_end_of_a_task_that_does_not_release_its_failure) {
  world::seeded = fault::ends_without_release;
  EXPECT_EQ(check({fails(0)}, {failing_owner_of(1, 0), thief_of({0}, 1)}, {.drops = true}).fault,
            "data race");
}

}  // namespace
}  // namespace teff::test
