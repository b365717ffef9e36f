#include "workers.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

TEST(scope, has_run_every_task_when_it_ends) {
  on_runtimes([](runtime& rt) {
    for (const int tasks : {0, 1, 2, 255, 256, 257, 10000}) {
      std::vector<std::atomic<int>> ran(static_cast<std::size_t>(tasks));
      rt.run([&] {
        scope s;
        for (auto& each : ran) s.spawn([&each] { ++each; });
      });
      for (auto& each : ran) EXPECT_EQ(each, 1);
    }
  });
}

TEST(scope, outside_a_runtime_has_its_tasks_run_beside_the_thread_on_the_default_one) {
  std::atomic<int> step{0};
  const detail::scheduler* on = nullptr;
  scope s;
  s.spawn([&] {
    on = detail::this_worker().runtime;
    step = 1;
    while (step != 2) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  step = 2;
  s.wait();
  EXPECT_EQ(on, &detail::private_access::internals(default_runtime()));
}

TEST(scope, outside_a_runtime_runs_every_task_whatever_their_number_and_size) {
  for (const int tasks : {0, 1, 2, 255, 256, 257, 10000}) {
    std::vector<std::atomic<int>> ran(static_cast<std::size_t>(tasks));
    scope s;
    for (auto& each : ran) {
      const std::array<char, 100> large{1};
      s.spawn([&each] { ++each; });
      s.spawn([&each, large] { each += large.front(); });
    }
    s.wait();
    for (auto& each : ran) ASSERT_EQ(each, 2);
  }
}

TEST(scope, outside_a_runtime_throws_the_first_exception_and_drops_what_has_not_begun) {
  std::atomic<bool> failed{false};
  int ran_after = 0;
  scope s;
  s.spawn([&] {
    failed = true;
    throw std::runtime_error("first");
  });
  while (!failed || !s.cancelled()) std::this_thread::yield();
  for (int i = 0; i < 300; ++i) s.spawn([&] { ++ran_after; });
  try {
    s.wait();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_EQ(ran_after, 0);
  EXPECT_FALSE(s.cancelled());
  s.spawn([&] { ++ran_after; });
  s.wait();
  EXPECT_EQ(ran_after, 1);
}

TEST(scope, outside_a_runtime_waits_for_its_tasks_when_an_exception_leaves_its_block) {
  std::atomic<int> begun{0};
  std::atomic<bool> ended{false};
  try {
    scope s;
    s.spawn([&] {
      begun = 1;
      while (!s.cancelled()) std::this_thread::yield();
      ended = true;
    });
    while (begun == 0) std::this_thread::yield();
    throw std::runtime_error("the block");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the block");
  }
  EXPECT_TRUE(ended);
}

TEST(scope, can_be_used_again_after_wait) {
  runtime rt{{.workers = 2}};
  rt.run([] {
    std::atomic<int> sum{0};
    scope s;
    for (int round = 1; round <= 100; ++round) {
      for (int i = 0; i < 10; ++i) s.spawn([&] { ++sum; });
      s.wait();
      EXPECT_EQ(sum, 10 * round);
    }
  });
}

// A tree in which every node spawns into a new scope.
void spawn_tree(int depth, std::atomic<long>& nodes) {
  ++nodes;
  if (depth == 0) return;
  scope s;
  for (int child = 0; child < 3; ++child) s.spawn([depth, &nodes] { spawn_tree(depth - 1, nodes); });
}

TEST(scope, may_contain_other_scopes) {
  on_runtimes([](runtime& rt) {
    std::atomic<long> nodes{0};
    rt.run([&] { spawn_tree(7, nodes); });
    EXPECT_EQ(nodes, 3280);
  });
}

// A tree in which every node spawns into the root's scope, from any worker.
void spawn_into(scope& s, int depth, std::atomic<long>& nodes) {
  ++nodes;
  if (depth == 0) return;
  for (int child = 0; child < 3; ++child) s.spawn([&s, depth, &nodes] { spawn_into(s, depth - 1, nodes); });
}

TEST(scope, outside_a_runtime_takes_tasks_from_its_own_tasks) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<long> nodes{0};
    scope s;
    spawn_into(s, 7, nodes);
    s.wait();
    EXPECT_EQ(nodes, 3280);
  }
}

TEST(scope, outside_a_runtime_is_not_waited_for_by_its_own_task) {
  scope s;
  s.spawn([&] { s.wait(); });
  EXPECT_THROW(s.wait(), misuse);
}

TEST(scope, takes_tasks_from_its_own_tasks_on_any_worker) {
  on_runtimes([](runtime& rt) {
    for (int round = 0; round < 5; ++round) {
      std::atomic<long> nodes{0};
      rt.run([&] {
        scope s;
        spawn_into(s, 7, nodes);
        s.wait();
        EXPECT_EQ(nodes, 3280);
      });
    }
  });
}

TEST(scope, takes_tasks_from_within_joins_loops_and_inner_scopes) {
  on_runtimes([](runtime& rt) {
    std::atomic<long> ran{0};
    rt.run([&] {
      scope outer;
      const auto add = [&] { outer.spawn([&] { ++ran; }); };
      join([&] { add(); }, [&] { add(); });
      parallel_for(0, 100, [&](int) { add(); });
      for (int i = 0; i < 100; ++i) {
        scope inner;
        add();
        inner.spawn(add);
        add();
      }
      outer.wait();
      EXPECT_EQ(ran, 402);
    });
  });
}

TEST(scope, takes_large_and_move_only_tasks) {
  runtime rt{{.workers = 2}};
  std::atomic<int> sum{0};
  rt.run([&] {
    scope s;
    std::array<int, 50> large{};
    large[49] = 1;
    for (int i = 0; i < 1000; ++i) {
      s.spawn([&sum, large] { sum += large[49]; });
      s.spawn([&sum, one = std::make_unique<int>(1)] { sum += *one; });
    }
  });
  EXPECT_EQ(sum, 2000);
}

TEST(scope, throws_the_exception_of_a_task_once_all_have_ended) {
  on_runtimes([](runtime& rt) {
    for (int thrower = 0; thrower < 600; thrower += 97) {
      std::atomic<int> running{0};
      EXPECT_THROW(rt.run([&] {
        scope s;
        for (int i = 0; i < 600; ++i) {
          s.spawn([&, i] {
            ++running;
            if (i == thrower) {
              --running;
              throw std::out_of_range("task");
            }
            --running;
          });
        }
      }),
                   std::out_of_range);
      EXPECT_EQ(running, 0);
    }
  });
}

TEST(scope, drops_tasks_that_have_not_begun_when_a_task_throws) {
  runtime rt{{.workers = 1}};
  int ran = 0;
  EXPECT_THROW(rt.run([&] {
    scope s;
    for (int i = 0; i < 10; ++i) s.spawn([&] { ++ran; });
    s.spawn([] { throw std::runtime_error("last spawned, first run"); });
  }),
               std::runtime_error);
  EXPECT_EQ(ran, 0);
}

TEST(scope, drops_tasks_that_have_not_begun_when_its_block_throws) {
  runtime rt{{.workers = 1}};
  int ran = 0;
  EXPECT_THROW(rt.run([&] {
    scope s;
    for (int i = 0; i < 10; ++i) s.spawn([&] { ++ran; });
    throw std::runtime_error("block");
  }),
               std::runtime_error);
  EXPECT_EQ(ran, 0);
}

TEST(scope, drops_tasks_that_have_not_begun_when_cancelled) {
  runtime rt{{.workers = 1}};
  int ran = 0;
  rt.run([&] {
    scope s;
    s.spawn([&] { ++ran; });
    s.cancel();
    s.spawn([&] { ++ran; });
    EXPECT_TRUE(s.cancelled());
    s.wait();
    EXPECT_FALSE(s.cancelled());
    s.spawn([&] { ++ran; });
  });
  EXPECT_EQ(ran, 1);
}

TEST(scope, reports_exceptions_of_tasks_run_while_an_exception_is_in_flight) {
  // A waiter in a destructor during unwinding runs other tasks, whose scopes must still throw.
  struct waits {
    ~waits() {
      try {
        scope s;
        for (int i = 0; i < 100; ++i) {
          s.spawn([] {
            EXPECT_THROW(
                {
                  scope inner;
                  inner.spawn([] { throw std::out_of_range("inner"); });
                },
                std::out_of_range);
          });
        }
        s.wait();
      } catch (...) {
        ADD_FAILURE();
      }
    }
  };
  runtime rt{{.workers = 1}};
  EXPECT_THROW(rt.run([] {
    const waits at_exit;
    throw std::runtime_error("block");
  }),
               std::runtime_error);
}

TEST(scope, waited_for_by_its_own_task_is_a_named_error) {
  runtime rt{{.workers = 1}};
  rt.run([] {
    scope s;
    s.spawn([&] { join([&] { EXPECT_THROW(s.wait(), misuse); }, [] {}); });
    s.wait();
  });
}

TEST(scope, waited_for_while_a_younger_scope_lives_is_a_named_error_and_harms_neither) {
  runtime rt{{.workers = 1}};
  int older_ran = 0;
  int younger_ran = 0;
  rt.run([&] {
    scope older;
    older.spawn([&] { ++older_ran; });
    {
      scope younger;
      EXPECT_THROW(older.wait(), misuse);
      // If wait() had taken the older scope's task, the younger scope's would lie in the join's slot.
      join([&] { younger.spawn([&] { ++younger_ran; }); }, [] {});
      younger.wait();
      EXPECT_EQ(younger_ran, 1);
    }
    older.wait();
  });
  EXPECT_EQ(older_ran, 1);
}

TEST(scope, sees_the_effects_of_its_tasks_that_ended_in_another_scopes_part) {
  runtime rt{{.workers = 2}};
  rt.run([] {
    for (int round = 0; round < 100; ++round) {
      int done = 0;  // not atomic: only the scope's end orders it
      std::atomic<bool> begun{false};
      {
        scope outer;
        {
          scope inner;
          outer.spawn([&] {
            begun.store(true, std::memory_order_relaxed);
            done = 1;
          });
          while (!begun.load(std::memory_order_relaxed)) std::this_thread::yield();
        }
        for (int i = 0; i < 100; ++i) std::this_thread::yield();  // most often the task has ended now
      }
      EXPECT_EQ(done, 1);
    }
  });
}

TEST(scope, random_trees_of_scopes_and_joins_run_every_node_once) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  struct tree {
    static void visit(std::uint64_t seed, int depth, std::atomic<long>& nodes, scope& shared) {
      ++nodes;
      if (depth == 0) return;
      std::minstd_rand random(static_cast<unsigned>(seed % 2147483646 + 1));
      random.discard(3);
      const auto how = random() % 4;
      const auto a = random();
      const auto b = random();
      const auto down = [&nodes, depth](std::uint64_t child, scope& s) {
        return [&nodes, depth, child, &s] { visit(child, depth - 1, nodes, s); };
      };
      if (how == 0) {
        join(down(a, shared), down(b, shared));
      } else if (how == 1) {
        scope own;
        own.spawn(down(a, own));
        own.spawn(down(b, shared));
      } else if (how == 2) {
        shared.spawn(down(a, shared));
        shared.spawn(down(b, shared));
      } else {
        scope own;
        shared.spawn(down(a, shared));
        own.spawn(down(b, own));
        own.wait();
      }
    }
  };
  on_runtimes([&](runtime& rt) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      std::atomic<long> nodes{0};
      rt.run([&] {
        scope s;
        tree::visit(seed + i, 9, nodes, s);
      });
      EXPECT_EQ(nodes, 1023);
    }
  });
}

// The thief of `of_a` finds `of_b` at once, which waits for the scope of `of_a` to end. If the thief did not
// tell that scope first, both would wait for ever.
TEST(scope, hears_of_a_stolen_task_before_its_thief_begins_a_task_of_another_scope) {
  const auto until = [](const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::yield();
  };
  runtime rt{{.workers = 3}};
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> of_a{false}, spawned_b{false}, of_b{false}, ended_a{false};
    std::thread other([&] {
      rt.run([&] {
        until(of_a);
        scope b;
        b.spawn([&] {
          of_b = true;
          until(ended_a);
        });
        spawned_b = true;
        until(of_b);
      });
    });
    rt.run([&] {
      scope a;
      a.spawn([&] {
        of_a = true;
        until(spawned_b);
      });
      until(of_b);
      a.wait();
      ended_a = true;
    });
    other.join();
    EXPECT_TRUE(ended_a);
  }
}

}  // namespace
}  // namespace teff::test
