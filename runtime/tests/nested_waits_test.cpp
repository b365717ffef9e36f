// Waits within tasks of graphs and replays, of several runtimes, and of several threads. No wait hangs, and
// libteff refuses only waits that could not end.
#include <gtest/gtest.h>
#include <teff/loopback.hpp>
#include <teff/message.hpp>
#include <teff/teff.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "workers.hpp"

namespace {

using namespace teff;

void wait_for(const std::atomic<bool>& said) {
  while (!said) std::this_thread::yield();
}

// Gives the graph this body, and each key the indegree 1.
template <class Body>
void fill(task_graph<int>& graph, Body body) {
  graph.indegree([](int) { return 1; }).body([body](int) { body(); });
}

TEST(nested_waits, a_job_that_waits_for_a_graph_does_not_run_on_top_of_a_piece_of_its_task) {
  runtime rt{{.workers = 3}};
  std::atomic<bool> first{false}, third_began{false}, submitted{false};
  task_graph<int> graph{rt};
  // A thief takes the second half, and another thief the half of that. The first thief, which waits first,
  // must not take the job.
  fill(graph, [&] {
    join([&] { wait_for(first); },
         [&] {
           join([&] { wait_for(submitted); },
                [&] {
                  third_began = true;
                  wait_for(submitted);
                  for (int i = 0; i < 100; ++i) std::this_thread::yield();
                  first = true;
                });
         });
  });
  graph.fulfill(0);
  std::thread outside([&] { rt.run([&] { graph.wait(); }); });
  wait_for(third_began);
  submitted = true;
  outside.join();
}

TEST(nested_waits, tasks_that_wait_for_a_graph_are_not_run_within_its_tasks) {
  for (const unsigned workers : {2U, 4U}) {
    runtime rt{{.workers = workers}};
    for (int round = 0; round < 50; ++round) {
      task_graph<int> graph{rt};
      std::atomic<int> done{0};
      fill(graph, [&] { parallel_for(0, 64, [&](int) { done += static_cast<int>(test::fib(8) > 0); }); });
      for (int i = 0; i < 8; ++i) graph.fulfill(i);
      rt.run([&] { parallel_for(0, 8, [&](int) { graph.wait(); }); });
      graph.wait();
      ASSERT_EQ(done, 8 * 64);
    }
  }
}

TEST(nested_waits, a_stolen_piece_of_a_task_can_not_wait_for_its_graph) {
  runtime rt{{.workers = 2}};
  std::atomic<bool> stolen{false};
  task_graph<int> graph{rt};
  fill(graph, [&] {
    join([&] { wait_for(stolen); },
         [&] {
           stolen = true;
           graph.wait();
         });
  });
  graph.fulfill(0);
  EXPECT_THROW(graph.wait(), graph_waits_for_itself);
}

TEST(nested_waits, graphs_whose_tasks_wait_for_each_other_get_an_error) {
  runtime rt{{.workers = 2}};
  task_graph<int> one{rt}, other{rt};
  std::latch both(2);
  const auto wait_in = [&](task_graph<int>& within, task_graph<int>& awaited, unsigned worker) {
    fill(within, [&] {
      both.arrive_and_wait();
      awaited.wait();
    });
    within.place([worker](int) { return worker; });
  };
  wait_in(one, other, 0);
  wait_in(other, one, 1);
  one.fulfill(0);
  other.fulfill(0);
  int refused = 0;
  for (auto* const each : {&one, &other}) {
    try {
      each->wait();
    } catch (const graph_waits_for_itself&) {
      ++refused;
    }
  }
  EXPECT_GE(refused, 1);
}

TEST(nested_waits, a_body_that_waits_for_memory_of_a_flow_whose_task_waits_for_the_body_gets_an_error) {
  runtime rt{{.workers = 2}};
  task_graph<int> graph{rt};
  flow f{rt};
  int x = 0;
  std::atomic<bool> made{false}, began{false};
  fill(graph, [&] {
    wait_for(made);  // one thread at a time uses the flow
    wait_for(began);
    f.wait(inout(x));
  });
  graph.fulfill(0);
  f.task(inout(x), [&] {
    began = true;
    graph.wait();
  });
  made = true;
  int refused = 0;
  for (const auto& wait : {std::function<void()>([&] { graph.wait(); }), {[&] { f.wait(); }}}) {
    try {
      wait();
    } catch (const graph_waits_for_itself&) {
      ++refused;
    }
  }
  EXPECT_GE(refused, 1);
}

TEST(nested_waits, a_body_makes_all_tasks_of_a_flow_though_they_wait_for_a_task_that_waits_for_the_body) {
  constexpr int many = 10'000;  // more than may be outstanding
  for (const bool waits_late : {false, true}) {
    runtime rt{{.workers = 2}};
    task_graph<int> graph{rt};
    flow f{rt};
    int x = 0;
    std::atomic<int> made{0};
    std::atomic<bool> began{false};
    fill(graph, [&] {
      f.task(inout(x), [&] {
        began = true;
        // As many as may be outstanding: the body waits for room soon, if it does not yet.
        while (waits_late && made < 4096) std::this_thread::yield();
        for (int i = 0; waits_late && i < 1000; ++i) std::this_thread::yield();
        graph.wait();
      });
      wait_for(began);
      for (; made < many; ++made) f.task(inout(x), [&] { ++x; });
    });
    graph.fulfill(0);
    graph.wait();
    f.wait();
    EXPECT_EQ(x, many);
  }
}

TEST(nested_waits, a_body_that_waits_for_messages_whose_handler_waits_for_the_body_gets_an_error) {
  loopback job(1);
  runtime rt{{.workers = 2}};
  communicator comm(rt, job.rank(0));
  task_graph<int> graph{rt};
  std::atomic<bool> began{false};
  const auto sent = comm.on([&](int) {
    began = true;
    graph.wait();
  });
  fill(graph, [&] {
    comm.run([&] {
      sent.send(0, 0);
      wait_for(began);
    });
  });
  graph.fulfill(0);
  EXPECT_THROW(graph.wait(), graph_waits_for_itself);
}

TEST(nested_waits, a_task_can_wait_for_another_graph_on_any_number_of_workers) {
  test::on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      std::atomic<int> inner_ran{0};
      task_graph<int> outer{rt};
      // Each half of the join waits for a graph. Some tasks of that graph only the other half's worker can
      // run.
      const auto wait_for_inner = [&] {
        task_graph<int> inner{rt};
        inner.indegree([](int) { return 1; }).body([&](int i) {
          ++inner_ran;
          if (i < 20) inner.fulfill(i + 1);
        });
        if (placed)
          inner.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; },
                      placement::must);
        inner.fulfill(0);
        inner.wait();
      };
      fill(outer, [&] { join(wait_for_inner, wait_for_inner); });
      for (int i = 0; i < 10; ++i) outer.fulfill(i);
      outer.wait();
      EXPECT_EQ(inner_ran, 10 * 2 * 21);
    }
  });
}

// Calls f() when so many bytes of the stack are in use since `begin`.
template <class F>
[[gnu::noinline]] void at_depth(std::size_t bytes, const std::byte* begin, F& f) {
  [[maybe_unused]] volatile std::byte room[256];
  room[0] = std::byte{};
  if (static_cast<std::size_t>(begin - static_cast<const std::byte*>(__builtin_frame_address(0))) < bytes) {
    at_depth(bytes, begin, f);
  } else {
    f();
  }
  room[1] = std::byte{};
}

TEST(nested_waits, a_worker_that_has_used_half_of_its_stack_does_what_only_it_may_do) {
  // The C library puts a thread's thread-locals into its stack; ThreadSanitizer's alone take 770 KiB.
  constexpr std::size_t stack = std::size_t{4} << 20;
  runtime rt{{.workers = 2, .stack_size = stack}};
  int ran = 0;
  std::atomic<bool> stolen{false};
  unsigned owner = 0;
  // The thief waits for a task that only the owner may run, which waits for the thief.
  const auto waits_for_owner = [&] {
    stolen = true;
    task_graph<int> placed{rt};
    placed.indegree([](int) { return 1; }).body([&](int) { ++ran; });
    placed.place([&](int) { return owner; }, placement::must);
    placed.fulfill(0);
    placed.wait();
  };
  const auto join_it = [&] { join([&] { wait_for(stolen); }, waits_for_owner); };
  const auto spawn_it = [&] {
    scope tasks;
    tasks.spawn(waits_for_owner);
    wait_for(stolen);
  };
  const auto deep = [&](auto& f) {
    stolen = false;
    rt.run([&] {
      owner = *worker_index();
      at_depth(stack / 8 * 5, static_cast<const std::byte*>(__builtin_frame_address(0)), f);
    });
  };
  deep(join_it);
  deep(spawn_it);
  EXPECT_EQ(ran, 2);
}

TEST(nested_waits, replays_of_several_recordings_take_turns_though_their_tasks_join) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers}};
    task_graph<int> one{rt}, other{rt};
    std::atomic<int> ran{0};
    for (auto* const each : {&one, &other})
      fill(*each, [&] { parallel_for(0, 32, [&](int) { ran += static_cast<int>(test::fib(5)); }); });
    auto first = record(one, [&] { one.fulfill(0); });
    auto second = record(other, [&] { other.fulfill(0); });
    ran = 0;
    for (int round = 0; round < 50; ++round) {
      std::thread outside([&] { first.replay(2); });
      rt.run([&] { second.replay(2); });
      outside.join();
      rt.run([&] { join([&] { first.replay(2); }, [&] { second.replay(2); }); });
    }
    EXPECT_EQ(ran, 50 * 8 * 32 * 5);
  }
}

TEST(nested_waits, replays_that_wait_for_each_other_through_a_graph_get_an_error) {
  runtime rt{{.workers = 2}};
  task_graph<int> one{rt}, other{rt}, between{rt};
  fill(one, [] {});
  fill(other, [] {});
  one.place([](int) { return 0U; });
  auto first = record(one, [&] { one.fulfill(0); });
  auto second = record(other, [&] { other.fulfill(0); });
  between.place([](int) { return 1U; }, placement::must);
  fill(between, [&] { second.replay(); });
  for (int round = 0; round < 50; ++round) {
    bool refused = false;
    try {
      first.replay(1, [&](int, std::uint64_t) {
        between.fulfill(0);
        between.wait();
      });
    } catch (const misuse& wait) {
      refused = std::string(wait.what()).find("wait for ever") != std::string::npos;
    }
    EXPECT_TRUE(refused);
    between.wait();
    second.replay();
  }
}

TEST(nested_waits, a_scope_hears_of_the_end_of_tasks_that_ran_in_another_runtime) {
  runtime one{{.workers = 1}}, other{{.workers = 2}};
  std::atomic<bool> stolen{false};
  std::atomic<std::uint64_t> parks{0};
  std::atomic<int> ended{0};
  one.run([&] {
    scope tasks;
    other.run([&] {
      scope host;
      tasks.spawn([&] {
        stolen = true;
        // Waits until the scope's owner sleeps.
        while (parks == 0 || one.counters().parks < parks) std::this_thread::yield();
        ++ended;
      });
      wait_for(stolen);
    });
    parks = one.counters().parks + 1;
    tasks.wait();
    EXPECT_EQ(ended, 1);
  });
}

TEST(nested_waits, runtimes_can_call_each_other_in_a_circle) {
  runtime one{{.workers = 1}}, other{{.workers = 1}};
  EXPECT_EQ(one.run([&] { return other.run([&] { return one.run([] { return 7; }); }); }), 7);
  EXPECT_THROW(one.run([&] { other.run([&] { one.run([] { throw std::out_of_range("7"); }); }); }),
               std::out_of_range);
}

// Keeps a worker busy with other work while it lives.
class kept_worker {
 public:
  explicit kept_worker(runtime& rt)
      : job_([&] {
          rt.run([&] {
            kept_ = true;
            wait_for(free_);
          });
        }) {
    wait_for(kept_);
  }
  ~kept_worker() {
    free_ = true;
    job_.join();
  }
  kept_worker(const kept_worker&) = delete;
  kept_worker& operator=(const kept_worker&) = delete;

 private:
  std::atomic<bool> kept_{false}, free_{false};
  std::thread job_;
};

TEST(nested_waits, errors_of_a_graph_do_not_wait_for_workers_that_are_busy_with_other_work) {
  runtime rt{{.workers = 2}};
  for (const bool placed : {false, true}) {
    std::atomic<unsigned> counted{0};
    task_graph<int> unsatisfied{rt}, failing{rt};
    unsatisfied
        .indegree([&](int) {
          ++counted;
          return 2;
        })
        .body([](int) {});
    if (placed)
      unsatisfied.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
    fill(failing, [] { throw std::out_of_range("7"); });
    for (int i = 0; i < 2; ++i) unsatisfied.fulfill(i);
    while (counted < 2) std::this_thread::yield();
    // A worker that has counted a key tells the others before it takes a job.
    const kept_worker kept(rt);
    try {
      unsatisfied.wait();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const never_satisfied& error) {
      EXPECT_EQ(error.count, 2U);
    }
    failing.fulfill(0);
    EXPECT_THROW(failing.wait(), std::out_of_range);
    unsatisfied.wait();  // the error has reset the graph
  }
}

TEST(nested_waits, an_error_reaches_every_thread_that_waits_for_the_graph) {
  runtime rt{{.workers = 2}};
  // A thread that begins to wait too late gets no error, so not every round has three errors.
  int told_most = 0;
  for (int round = 0; round < 1000 && told_most < 3; ++round) {
    task_graph<int> graph{rt};
    std::atomic<int> waiting{0}, told{0};
    fill(graph, [&] {
      while (waiting < 3) std::this_thread::yield();
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      throw std::out_of_range("7");
    });
    graph.fulfill(0);
    const auto wait = [&] {
      ++waiting;
      try {
        graph.wait();
      } catch (const std::out_of_range&) {
        ++told;
      }
    };
    std::thread one(wait), two(wait), three([&] { rt.run(wait); });
    one.join();
    two.join();
    three.join();
    graph.wait();
    EXPECT_GE(told, 1);
    told_most = std::max<int>(told_most, told);
  }
  EXPECT_EQ(told_most, 3);
}

}  // namespace
