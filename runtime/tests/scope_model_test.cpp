// The end of a scope on its interleavings: it comes, once all its tasks have ended, wherever they lay and
// whoever ran them, and the owner sees then what they did.
#include <gtest/gtest.h>
#include <teff/detail/scope_tasks.hpp>

#include "idle_gate.hpp"
#include "interleavings.hpp"
#include "stolen_tasks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;
using checked::plain;
namespace slot_state = detail::slot_state;

struct scope;
struct world;

// As detail::task_slot, for a scope's task that is known by a number.
struct task_slot {
  void (*run)(task_slot&, const scope* by) = nullptr;
  checked::atomic<std::uint32_t> state;
  scope* of = nullptr;
  plain task;
};

struct lane : detail::split_deque<task_slot, checked::atomic> {
  task_slot* scope_limit = nullptr;
  scope* innermost = nullptr;
};

// What the tests of faults do wrong.
enum class fault { none, counts_after_push, ends_without_release, moves_out_early, does_not_tell };

// What calling_worker and worker_steal.cpp do on a thread; the rest is their own code.
struct checked_worker {
  using slot = test::task_slot;
  using scope = test::scope;
  template <class T>
  struct atomic : checked::atomic<T> {
    using checked::atomic<T>::atomic;
    T fetch_sub(T value, std::memory_order order);
  };

  static lane& own();
  static scope* scope_of(task_slot& at) {
    static_cast<void>(at.task.read());
    return at.of;
  }
  static bool take_back(task_slot* at) {
    if (!own().retake(at)) return false;
    answer_request();
    return true;
  }
  static void share() {
    if (own().asked_to_share()) own().share();
  }
  static void answer_request() {
    if (!own().asked_to_share()) return;
    if (!own().share() && own().has_public()) own().withdraw();
  }
  static void wake_owner(const task_slot* at);
  static void ended_on_thief(scope& of);
  static void wait_for_tasks(const atomic<std::int64_t>& pending);
  static void yield() { checker::now().pause(); }
};

// As teff::scope, whose tasks nobody cancels.
struct scope : detail::scope_tasks<checked_worker> {
  scope() : outer(std::exchange(checked_worker::own().innermost, this)) {}
  ~scope() { checked_worker::own().innermost = outer; }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  void spawn(int task) {
    auto& own = checked_worker::own();
    auto* const at = own.head();
    if (own.innermost != this || at != top_) return spawn_slowly(task);
    if (at < window_end_) {
      put(at, task);
      top_ = at + 1;
      if (own.asked()) checked_worker::share();
    } else {
      if (own.asked()) return spawn_slowly(task);
      execute(task);
    }
  }
  void wait() {
    if (!end_quickly()) end_tasks();
  }
  // As the destructor.
  void end() {
    if (has_tasks()) wait();
  }

 private:
  void spawn_slowly(int task);
  static void execute(int task);
  // As scope_state::put().
  void put(task_slot* at, int task) {
    at->of = this;
    at->task.write(task);
    at->run = &run;
    checked_worker::own().push(at);
  }
  static void run(task_slot& at, const scope* by);  // as spawned::run()

  scope* const outer;
};

// A worker a thread, and tasks.
struct world {
  using task = std::function<void(world&)>;

  world(std::vector<task> bodies, int window) : tasks(std::move(bodies)) {
    current = this;
    futex::wakes.clear();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i].open(slots[i].data());
      lanes[i].scope_limit = slots[i].data() + window;
    }
  }

  static world& now() { return *current; }
  static std::size_t me() { return static_cast<std::size_t>(checker::now().self()); }

  // As worker::run_something() and run_stolen().
  bool steal_from(int victim) {
    auto* const at = lanes[static_cast<std::size_t>(victim)].steal();
    if (at == nullptr) return false;
    at->state.store(slot_state::first_thief, std::memory_order_relaxed);
    stolen[me()].run(*at);
    return true;
  }
  // As worker::work_until(): so many looks at one victim, then at the next.
  void look_for_work(const std::vector<int>& victims, int looks) {
    for (const int victim : victims) {
      auto& deque = lanes[static_cast<std::size_t>(victim)];
      for (int look = 0; look < looks; ++look) {
        if (steal_from(victim)) continue;
        if (seeded != fault::does_not_tell) stolen[me()].tell();
        deque.ask();
        if (deque.seize(checked::barrier_everywhere)) steal_from(victim);
      }
    }
    if (seeded != fault::does_not_tell) stolen[me()].tell();
  }

  // For the owner after the end of a scope: the task has ended, and the owner sees what it did.
  void expect_ended(int task) {
    if (did[static_cast<std::size_t>(task)].read() != 1)
      checker::fail("the scope ended before task " + std::to_string(task));
  }

  static inline world* current = nullptr;
  static inline fault seeded = fault::none;
  static inline int most_told = 0;  // of how many tasks at once a scope was told, in some run

  std::array<std::array<task_slot, 4>, 3> slots;
  std::array<lane, 3> lanes;
  std::array<detail::stolen_tasks<checked_worker>, 3> stolen;
  std::vector<task> tasks;
  std::array<plain, 4> did;
  std::array<int, 4> ran{};
  scope* shared = nullptr;
  checked::atomic<int> flag{0};
  // Of a worker that waits for its scope: where it looks for work meanwhile, and how often.
  std::vector<int> victims;
  int looks = 0;
  bool sleeps = false;
  detail::idle_gate<futex> gate{3};
};

template <class T>
T checked_worker::atomic<T>::fetch_sub(T value, std::memory_order order) {
  world::most_told = std::max(world::most_told, static_cast<int>(value));
  const bool careless = world::seeded == fault::ends_without_release;
  return checked::atomic<T>::fetch_sub(value, careless ? std::memory_order_relaxed : order);
}

lane& checked_worker::own() {
  return world::now().lanes.at(world::me());
}

// Scopes that are waited for asleep belong to worker 0.
void checked_worker::wake_owner(const task_slot*) {
  if (world::now().sleeps) world::now().gate.wake(0);
}

void checked_worker::ended_on_thief(scope& of) {
  world::now().stolen.at(world::me()).ended(of);
}

void checked_worker::wait_for_tasks(const atomic<std::int64_t>& pending) {
  auto& all = world::now();
  const auto done = [&pending] { return pending.load(std::memory_order_seq_cst) == 0; };
  if (all.looks > 0 && !done()) all.look_for_work(all.victims, all.looks);
  while (!done()) {
    if (all.sleeps) {
      all.gate.start_search();
      static_cast<void>(all.gate.sit_down(0, true));
      if (done()) {
        all.gate.get_up(0, true);
      } else {
        all.gate.sleep(0);
      }
      static_cast<void>(all.gate.stop_search());
    } else {
      checker::now().wait_until([&pending] { return pending.peek() == 0; });
    }
  }
}

void scope::spawn_slowly(int task) {
  auto* const host = find_host();
  if (host == nullptr) return execute(task);
  if (world::seeded == fault::counts_after_push) {
    auto* const at = checked_worker::own().head();
    put(at, task);
    host->top_ = at + 1;
    if (host != this) pending_.fetch_add(1, std::memory_order_relaxed);
  } else {
    push_into(*host, [&](task_slot* at) { put(at, task); });
  }
  if (checked_worker::own().asked()) checked_worker::share();
}

void scope::execute(int task) {
  auto& all = world::now();
  const auto number = static_cast<std::size_t>(task);
  if (all.tasks[number]) all.tasks[number](all);
  all.did[number].write(1);
  ++all.ran[number];
}

void scope::run(task_slot& at, const scope* by) {
  const bool stolen = by == detail::thief<scope>;
  auto* const of = at.of;
  if (stolen && world::seeded == fault::moves_out_early)
    at.state.store(slot_state::moved_out, std::memory_order_release);
  const int task = at.task.read();
  if (stolen) at.state.store(slot_state::moved_out, std::memory_order_release);
  execute(task);
  of->ended(by);
}

using threads = std::vector<std::function<void(world&)>>;

struct options {
  int window = 4;
  int preemptions = 2;
  std::vector<int> victims{};  // as world's, of all threads
  int looks = 0;
  bool sleeps = false;
};

// Runs the threads; at the end each task must have run once.
checker::outcome check(const std::vector<world::task>& tasks, const threads& bodies, const options& how) {
  return checker::check(
      [&]() -> checker::program {
        auto all = std::make_shared<world>(tasks, how.window);
        all->victims = how.victims;
        all->looks = how.looks;
        all->sleeps = how.sleeps;
        checker::program program;
        for (const auto& body : bodies) program.emplace_back([all, body] { body(*all); });
        program.emplace_back([all] {
          for (std::size_t task = 0; task < all->tasks.size(); ++task) {
            if (all->ran[task] != 1) checker::fail("a task did not run exactly once");
          }
        });
        return program;
      },
      how.preemptions, 3'000'000);
}

void expect_no_fault(const checker::outcome& outcome) {
  EXPECT_EQ(outcome.fault, "");
  EXPECT_TRUE(outcome.complete) << "stopped after " << outcome.runs << " interleavings";
  EXPECT_GT(outcome.runs, 100U);
  std::cout << outcome.runs << " interleavings\n";
}

class scope_model : public testing::Test {
 protected:
  scope_model() {
    world::seeded = fault::none;
    world::most_told = 0;
  }
};

const world::task nothing = nullptr;

// Worker 0 spawns the first `count` tasks; `all` tasks have ended when its scope has.
std::function<void(world&)> owner_of(int count, int all) {
  return [=](world& w) {
    scope own;
    w.shared = &own;
    for (int task = 0; task < count; ++task) own.spawn(task);
    own.wait();
    for (int task = 0; task < all; ++task) w.expect_ended(task);
  };
}
std::function<void(world&)> thief_of(std::vector<int> victims, int looks) {
  return [=](world& w) { w.look_for_work(victims, looks); };
}
world::task spawns(int task) {
  return [task](world& w) { w.shared->spawn(task); };
}

TEST_F(scope_model, a_scope_ends_after_tasks_that_a_thief_takes_in_a_row) {
  expect_no_fault(check({nothing, nothing, nothing}, {owner_of(3, 3), thief_of({0}, 2)}, {.preemptions = 3}));
  EXPECT_EQ(world::most_told, 2);  // it has been told of two at once
}

TEST_F(scope_model, a_scope_ends_after_what_a_stolen_task_spawned_into_it) {
  expect_no_fault(check({spawns(1), nothing}, {owner_of(1, 2), thief_of({0}, 1)},
                        {.preemptions = 3, .victims = {1}, .looks = 1}));
}

TEST_F(scope_model, a_scope_ends_after_what_a_second_thief_took_from_the_first) {
  expect_no_fault(
      check({spawns(1), nothing}, {owner_of(1, 2), thief_of({0}, 1), thief_of({1}, 1)}, {.preemptions = 2}));
}

TEST_F(scope_model, a_scope_ends_after_tasks_in_a_younger_scopes_part) {
  const auto owner = [](world& w) {
    scope outer;
    {
      scope inner;
      outer.spawn(0);
      inner.spawn(1);
      inner.end();
      w.expect_ended(1);
    }
    outer.end();
    w.expect_ended(0);
  };
  expect_no_fault(check({nothing, nothing}, {owner, thief_of({0}, 2)}, {.preemptions = 3}));
}

// A scope whose part has one slot, which is used again after wait(), or when it was stolen and a thief asks.
const threads one_slot = {[](world& w) {
                            scope own;
                            own.spawn(0);
                            own.wait();
                            w.expect_ended(0);
                            w.flag.store(1);
                            own.spawn(1);
                            w.lanes[0].ask();  // as another thief does
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

// So that others see what its worker has stored, without a preemption's cost.
const world::task fence = [](world& w) { w.flag.fetch_add(0); };

TEST_F(scope_model, a_slot_that_was_stolen_is_used_again) {
  expect_no_fault(check({nothing, fence, nothing}, one_slot, {.window = 1, .preemptions = 3}));
}

TEST_F(scope_model, a_thief_tells_a_scope_before_it_runs_what_the_last_task_left) {
  // Task 1, of the outer scope, waits for the end of the inner one, to which task 0 belongs that spawns it.
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

// Faults, seeded to see that they are found.

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

TEST_F(scope_model, finds_an_end_of_a_task_that_does_not_release_what_it_did) {
  world::seeded = fault::ends_without_release;
  EXPECT_EQ(check({nothing}, {owner_of(1, 1), thief_of({0}, 1)}, {}).fault, "data race");
}

TEST_F(scope_model, finds_a_thief_that_frees_a_slot_before_it_has_moved_the_task_out) {
  world::seeded = fault::moves_out_early;
  EXPECT_EQ(check({nothing, nothing, nothing}, one_slot, {.window = 1, .preemptions = 3}).fault, "data race");
}

}  // namespace
}  // namespace teff::test
