// Task graphs whose tasks have priorities: which task runs first.
#include <teff/detail/ready/ready_tasks.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

TEST(task_graph, runs_the_ready_task_with_the_highest_priority_first) {
  runtime rt{{.workers = 1}};
  std::vector<int> order;
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; })
      .place([](int) { return 0U; })
      .priority([](int i) { return i % 3; })
      .body([&](int i) {
        order.push_back(i);
        if (i == 0) {
          for (int each = 1; each < 9; ++each) g.fulfill(each);
        }
      });
  g.fulfill(0);
  g.wait();
  EXPECT_EQ(order, (std::vector<int>{0, 2, 5, 8, 1, 4, 7, 3, 6}));
}

TEST(task_graph, runs_the_highest_priority_first_also_without_a_place) {
  for (const bool outside : {false, true}) {
    runtime rt{{.workers = 1}};
    std::vector<int> order;
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; }).priority([](int i) { return i % 3; }).body([&](int i) {
      order.push_back(i);
      if (i == 0) {
        for (int each = 1; each < 9; ++each) g.fulfill(each);
      }
    });
    const auto run = [&] {
      g.fulfill(0);
      g.wait();
    };
    outside ? run() : rt.run(run);
    EXPECT_EQ(order, (std::vector<int>{0, 8, 5, 2, 7, 4, 1, 6, 3}));
  }
}

// Task 1 makes task 3 ready. Task 2 is ready already, and has a higher priority than task 3.
TEST(task_graph, a_task_that_another_has_made_ready_waits_for_one_of_a_higher_priority) {
  for (const bool dense : {false, true}) {
    for (const unsigned place : {anywhere, 0U}) {
      runtime rt{{.workers = 1}};
      std::vector<int> order;
      task_graph<int> g{rt};
      if (dense) g.dense(4);
      g.indegree([](int) { return 1; })
          .place([=](int i) { return i == 2 ? place : anywhere; })
          .priority([](int i) { return i == 1 ? 9 : -i; })
          .body([&](int i) {
            order.push_back(i);
            if (i == 0) {
              g.fulfill(1);
              g.fulfill(2);
            } else if (i == 1) {
              g.fulfill(3);
            }
          });
      g.fulfill(0);
      g.wait();
      EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3})) << (dense ? "dense, " : "") << "2 at " << place;
    }
  }
}

TEST(task_graph, priorities_are_compared_between_tasks_with_and_without_a_place) {
  runtime rt{{.workers = 1}};
  std::vector<int> order;
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; })
      .place([](int i) { return i % 2 == 0 ? anywhere : 0U; })
      .priority([](int i) { return i / 3; })
      .body([&](int i) {
        order.push_back(i);
        if (i == 0) {
          for (int each = 1; each < 12; ++each) g.fulfill(each);
        }
      });
  g.fulfill(0);
  g.wait();
  EXPECT_EQ(order, (std::vector<int>{0, 9, 11, 10, 7, 8, 6, 3, 5, 4, 1, 2}));
}

TEST(task_graph, a_thief_takes_the_highest_priority_first) {
  runtime rt{{.workers = 2}};
  constexpr int tasks = 8;
  std::vector<int> order;  // written by worker 1, at last by worker 0
  std::atomic<bool> all_ready{false};
  std::atomic<int> ran{0};
  task_graph<int> g{rt};
  // Task -1 keeps worker 1 busy until the other tasks are ready on worker 0. Task 0 keeps worker 0 busy until
  // worker 1 has run all but one of them. Worker 0 has kept the task of the highest priority for itself.
  g.indegree([](int) { return 1; })
      .place([](int i) { return i > 0 ? anywhere : static_cast<unsigned>(-i); }, placement::must)
      .priority([](int i) { return i * 3 % tasks; })
      .body([&](int i) {
        if (i == -1) {
          while (!all_ready) std::this_thread::yield();
        } else if (i == 0) {
          for (int each = 1; each <= tasks; ++each) g.fulfill(each);
          all_ready = true;
          while (ran != tasks - 1) std::this_thread::yield();
        } else {
          order.push_back(i);
          ++ran;
        }
      });
  rt.run([&] {
    g.fulfill(-1);
    g.fulfill(0);
    g.wait();
  });
  EXPECT_EQ(order, (std::vector<int>{2, 7, 4, 1, 6, 3, 8, 5}));
}

// While a worker looks for more work, it may keep a task, and a thief may empty its heap.
TEST(ready_tasks, give_the_task_that_was_kept_while_the_worker_looked_for_more) {
  detail::ready_tasks ready(0);
  detail::runnable low;
  detail::runnable kept;
  low.priority = 1;
  const auto push = [&] {
    ready.make_room(true);
    ready.push_shared(&low, true);
  };
  kept.priority = 0;
  push();
  EXPECT_EQ(ready.take([&] {
    EXPECT_EQ(ready.steal(), &low);
    EXPECT_EQ(ready.keep_next(&kept), nullptr);
  }),
            &kept);
  kept.priority = 2;
  push();
  EXPECT_EQ(ready.take([&] { EXPECT_EQ(ready.keep_next(&kept), nullptr); }), &kept);
  EXPECT_EQ(ready.take([] {}), &low);
  EXPECT_EQ(ready.take([] {}), nullptr);
}

}  // namespace
}  // namespace teff::test
