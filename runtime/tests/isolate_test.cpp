// isolate(): a worker that waits in it runs no tasks but its own.
#include "workers.hpp"

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

namespace teff::test {
namespace {

// Worker 0 waits for a task that another worker runs. That task waits for an inner task on a third worker.
// Worker 1 spawns other tasks meanwhile.
TEST(isolate, waits_for_its_tasks_and_theirs_and_runs_no_others) {
  runtime rt{{.workers = 4}};
  std::atomic<bool> is_there{false};
  std::atomic<bool> has_begun{false};
  std::atomic<bool> is_over{false};
  std::array<std::atomic<bool>, 4> waits{};
  std::atomic<int> taken{0};
  std::thread other([&] {
    on_own_thread(rt, 1, [&] {
      is_there = true;
      while (!has_begun) std::this_thread::yield();
      for (int round = 0; round < (under_sanitizer ? 600 : 3000); ++round) {
        scope tasks;
        for (int i = 0; i < 8; ++i) {
          tasks.spawn([&] {
            if (waits[*worker_index()]) ++taken;
          });
        }
        std::this_thread::yield();
      }
      is_over = true;
    });
  });
  const auto wait_for = [&](auto task) {
    std::atomic<bool> is_stolen{false};
    auto& mine = waits[*worker_index()];
    mine = true;
    join(
        [&] {
          while (!is_stolen) std::this_thread::yield();
        },
        [&] {
          is_stolen = true;
          task();
        });
    mine = false;
  };
  while (!is_there) std::this_thread::yield();  // else worker 1 might take the task that waits for it
  on_own_thread(rt, 0, [&] {
    isolate([&] {
      wait_for([&] {
        wait_for([&] {
          has_begun = true;
          while (!is_over) std::this_thread::yield();
        });
      });
    });
  });
  other.join();
  EXPECT_EQ(taken, 0);
}

TEST(isolate, returns_the_value_or_throws_the_exception_on_any_thread) {
  const auto check = [] {
    int kept = 3;
    EXPECT_EQ(&isolate([&]() -> int& { return kept; }), &kept);
    EXPECT_EQ(isolate([] { return isolate([] { return fib(12); }); }), 144);
    EXPECT_EQ(text_of<std::runtime_error>([] { isolate([] { throw std::runtime_error("no"); }); }), "no");
  };
  check();
  runtime rt{{.workers = 2}};
  rt.run(check);
  rt.submit([&] { blocking(check); }).get();
}

TEST(isolate, within_a_task_of_a_flow_is_a_part_of_that_task) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int x = 0;
  f.task(inout(x), [&] { isolate([&] { f.task([&] { x = 1; }); }); });
  f.task(inout(x), [&] { x *= 2; });
  f.wait();
  EXPECT_EQ(x, 2);
}

}  // namespace
}  // namespace teff::test
