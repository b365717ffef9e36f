// Many graphs of a few tasks: how often they allocate, and that they leave nothing behind.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "allocations.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

void fulfil_four(task_graph<int>& graph) {
  for (int i = 0; i < 4; ++i) graph.fulfill(i);
}

TEST(small_graphs, allocate_little_and_nothing_when_they_are_used_again) {
  runtime rt{{.workers = 1}};
  rt.run([&] {
    int ran = 0;
    const task_graph<int> another{rt};  // the runtime's first
    const auto before = allocations();
    {
      task_graph<int> graph{rt};
      graph.indegree([](int) { return 1; }).body([&ran](int) { ++ran; });
      fulfil_four(graph);
      graph.wait();
      EXPECT_LE(allocations() - before, 12U);
      const auto used = allocations();
      for (int i = 0; i < 10; ++i) {
        fulfil_four(graph);
        graph.wait();
      }
      EXPECT_EQ(allocations(), used);
    }
    EXPECT_EQ(ran, 44);
  });
}

TEST(small_graphs, have_destroyed_the_captures_of_their_functions_when_their_lifetime_ends) {
  on_runtimes([](runtime& rt) {
    const int rounds = under_sanitizer ? 20 : 200;
    const auto live_and_die = [&] {
      const auto kept = std::make_shared<int>(7);
      for (int round = 0; round < rounds; ++round) {
        {
          std::atomic<int> ran{0};
          task_graph<int> graph{rt};
          graph.indegree([kept](int) { return 1; }).body([kept, &ran](int) { ++ran; });
          fulfil_four(graph);
          graph.wait();
          ASSERT_EQ(ran, 4);
        }
        ASSERT_EQ(kept.use_count(), 1);
      }
    };
    live_and_die();
    rt.run(live_and_die);
  });
}

// Workers leave a few keys alone for a moment only, and not when they are about to sleep.
TEST(small_graphs, that_are_fulfilled_from_outside_run_though_no_thread_waits) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    for (const int spin : {0, 50, 1000}) {
      runtime rt{{.workers = workers, .spin = std::chrono::microseconds(spin)}};
      std::atomic<int> ran{0};
      task_graph<int> graph{rt};
      graph.indegree([](int) { return 1; }).body([&](int) { ++ran; });
      // Each round has other keys. A task may end some time after its body has counted it. Before that, a
      // second fulfilment of its key would be one too many.
      for (int key = 0; key < 80;) {
        for (const int end = key + 4; key < end; ++key) graph.fulfill(key);
        while (ran != key) std::this_thread::yield();
      }
      graph.wait();
    }
  }
}

// How many tasks of the outer graph are on the calling thread's stack.
thread_local int depth = 0;

TEST(small_graphs, that_tasks_of_a_graph_wait_for_nest_only_a_few_tasks_deep) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    runtime rt{{.workers = workers}};
    constexpr int tasks = under_sanitizer ? 100 : 2000;
    std::atomic<int> ran{0}, deepest{0};
    task_graph<int> outer{rt};
    outer.indegree([](int) { return 1; }).body([&](int) {
      int seen = deepest;
      for (++depth; seen < depth && !deepest.compare_exchange_weak(seen, depth);) continue;
      task_graph<int> inner{rt};
      inner.indegree([](int) { return 1; }).body([&](int) {
        ++ran;
        for (int i = 0; i < 3; ++i) std::this_thread::yield();  // so that other workers find it
      });
      fulfil_four(inner);
      inner.wait();
      --depth;
    });
    for (int i = 0; i < tasks; ++i) outer.fulfill(i);
    outer.wait();
    EXPECT_EQ(ran, 4 * tasks);
    EXPECT_LE(deepest, 20);
  }
}

// A worker waits for a graph, deep within tasks that wait for other graphs. Only this worker can run a task
// that another worker waits for.
TEST(small_graphs, with_places_run_however_deep_their_worker_waits) {
  for (const unsigned workers : {2U, 3U}) {
    runtime rt{{.workers = workers}};
    std::atomic<int> ran{0};
    task_graph<int> outer{rt};
    outer.indegree([](int) { return 1; })
        .place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; })
        .body([&](int) {
          task_graph<int> inner{rt};
          inner.indegree([](int) { return 1; }).place([workers = rt.workers()](int i) {
            return static_cast<unsigned>(i) % workers;
          });
          inner.body([&](int i) {
            ++ran;
            if (i < 10) inner.fulfill(i + 1);
          });
          inner.fulfill(0);
          inner.wait();
        });
    for (int i = 0; i < 300; ++i) outer.fulfill(i);
    outer.wait();
    EXPECT_EQ(ran, 300 * 11);
  }
}

TEST(small_graphs, refuse_a_negative_indegree) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      task_graph<int> graph{rt};
      graph.indegree([](int i) { return i == 7 ? -1 : 0; }).body([&](int i) {
        if (i == 1) graph.fulfill(7);
      });
      if (placed) graph.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
      graph.fulfill(1);
      try {
        graph.wait();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const negative_indegree& error) {
        EXPECT_NE(std::string(error.what()).find("the task 7 is -1"), std::string::npos) << error.what();
      }
    }
  });
}

}  // namespace
}  // namespace teff::test
