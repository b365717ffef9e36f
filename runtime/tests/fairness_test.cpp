// Requests from outside begin beside work that never ends by itself. Each of these programs ends only if its
// requests begin.
#include "workers.hpp"

#include <teff/detail/scheduler/source.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

void spin_for(std::chrono::microseconds time) {
  using clock = std::chrono::steady_clock;
  for (const auto until = clock::now() + time; clock::now() < until;) continue;
}

// Recursions that go on until `stop` is set.
void endless_joins(const std::atomic<bool>& stop) {
  while (!stop) fib(15);
}
void spawn_in_pairs(int depth) {
  if (depth == 0) return;
  scope s;
  s.spawn([=] { spawn_in_pairs(depth - 1); });
  s.spawn([=] { spawn_in_pairs(depth - 1); });
}
void endless_scopes(const std::atomic<bool>& stop) {
  while (!stop) spawn_in_pairs(10);
}
long forked_fib(long n) {
  if (n < 2) return n;
  auto a = fork([=] { return forked_fib(n - 1); });
  const long b = forked_fib(n - 2);
  return a.get() + b;
}
void endless_forks(const std::atomic<bool>& stop) {
  while (!stop) forked_fib(15);
}
void endless_spawns(const std::atomic<bool>& stop) {
  scope s;
  while (!stop) s.spawn([] {});
}
void endless_loop(const std::atomic<bool>& stop) {
  parallel_for(0L, 1L << 40, [&stop](long) {
    if (stop) throw 0;
  });
}

void pass_tokens(const std::atomic<bool>& stop, std::chrono::microseconds stage) {
  parallel_pipeline(8, serial([&]() -> std::optional<int> {
                      if (stop) return std::nullopt;
                      return 0;
                    }),
                    parallel([=](int token) {
                      spin_for(stage);
                      return token;
                    }),
                    serial([](int) {}));
}
void endless_pipeline_of_short_tokens(const std::atomic<bool>& stop) {
  pass_tokens(stop, {});
}
void endless_pipeline_of_long_tokens(const std::atomic<bool>& stop) {
  pass_tokens(stop, std::chrono::microseconds(50));
}

using endless = void (*)(const std::atomic<bool>&);
constexpr endless kinds[] = {endless_joins,
                             endless_scopes,
                             endless_forks,
                             endless_spawns,
                             endless_loop,
                             endless_pipeline_of_short_tokens,
                             endless_pipeline_of_long_tokens};

void run_until_stopped(endless work, const std::atomic<bool>& stop) {
  try {
    work(stop);
  } catch (int) {  // how a loop is left
  }
}

TEST(fairness, requests_begin_beside_an_endless_recursion_in_run) {
  for (const endless& work : kinds) {
    for (const unsigned workers : {1U, 2U, 4U}) {
      SCOPED_TRACE(testing::Message() << workers << " workers, kind " << (&work - kinds));
      runtime rt{{.workers = workers}};
      std::atomic<bool> stop{false};
      std::thread caller([&] { rt.run([&] { run_until_stopped(work, stop); }); });
      for (int i = 0; i < 20; ++i) EXPECT_EQ(rt.submit([i] { return i; }).get(), i);
      rt.submit([&] { stop = true; }).get();
      caller.join();
    }
  }
}

TEST(fairness, a_request_begins_between_the_last_tasks_of_a_scope) {
  runtime rt{{.workers = 1}};
  std::atomic<int> step{0};
  const auto wait_for_step = [&](int awaited) {
    for (int now = step; now < awaited; now = step) step.wait(now);
  };
  const auto set_step = [&](int next) {
    step = next;
    step.notify_all();
  };
  bool request_ran = false;
  bool oldest_came_after_it = false;
  std::thread caller([&] {
    rt.run([&] {
      scope s;
      s.spawn([&] { oldest_came_after_it = request_ran; });
      s.spawn([&] {
        set_step(1);
        wait_for_step(2);
      });
    });
  });
  wait_for_step(1);
  auto request = rt.submit([&] { request_ran = true; });
  set_step(2);
  caller.join();
  request.get();
  EXPECT_TRUE(oldest_came_after_it);
}

// Runs as many chains as there are workers. They go on until `stop` is set.
void wait_for_chains(runtime& rt, bool placed, const std::atomic<bool>& stop) {
  task_graph<long> chains{rt};
  const long count = rt.workers();
  chains.indegree([](long) { return 1; }).body([&](long task) {
    if (!stop) chains.fulfill(task + count);
  });
  if (placed) chains.place([count](long task) { return static_cast<unsigned>(task % count); });
  for (long i = 0; i < count; ++i) chains.fulfill(i);
  chains.wait();
}

TEST(fairness, requests_begin_beside_an_endless_graph_that_any_thread_waits_for) {
  for (const bool placed : {false, true}) {
    for (const unsigned workers : {1U, 2U, 4U}) {
      for (const std::string waits : {"outside", "in run()", "in a request"}) {
        SCOPED_TRACE(testing::Message() << workers << " workers, waits " << waits << ", placed: " << placed);
        runtime rt{{.workers = workers}};
        std::atomic<bool> stop{false};
        const auto wait = [&] { wait_for_chains(rt, placed, stop); };
        std::thread caller([&] {
          if (waits == "outside") return wait();
          if (waits == "in run()") return rt.run(wait);
          rt.submit(wait).get();
        });
        for (int i = 0; i < 20; ++i) EXPECT_EQ(rt.submit([i] { return i; }).get(), i);
        rt.submit([&] { stop = true; }).get();
        caller.join();
      }
    }
  }
}

// A worker in an endless request must not run the request that waits for it: neither would end.
TEST(fairness, requests_begin_beside_endless_requests_and_may_wait_for_them) {
  for (const endless& work : kinds) {
    for (const unsigned workers : {1U, 2U, 4U}) {
      SCOPED_TRACE(testing::Message() << workers << " workers, kind " << (&work - kinds));
      runtime rt{{.workers = workers}};
      std::atomic<bool> stop{false};
      std::vector<future<void>> endless_ones;
      for (unsigned i = 0; i < workers; ++i)
        endless_ones.push_back(rt.submit([&] { run_until_stopped(work, stop); }));
      auto all = when_all(endless_ones);
      auto waits = rt.submit([&] { all.wait(); });
      for (int i = 0; i < 20; ++i) EXPECT_EQ(rt.submit([i] { return i; }).get(), i);
      rt.submit([&] { stop = true; }).get();
      waits.get();
    }
  }
}

// Each request waits for a future that only a later request completes.
TEST(fairness, a_request_begins_while_every_worker_waits_within_a_request) {
  on_runtimes([](runtime& rt) {
    std::atomic<bool> go{false};
    std::vector<future<void>> waiting;
    auto last = rt.submit([&] { blocking([&] { go.wait(false); }); });
    auto barrier = last.then([] {});
    auto everybody = barrier.then([] {});
    for (unsigned i = 0; i < rt.workers() + 2; ++i) waiting.push_back(rt.submit([&] { everybody.wait(); }));
    rt.submit([&] {
      go = true;
      go.notify_all();
    });
    for (auto& each : waiting) each.get();
  });
}

// The other graph's task stands for a message that arrives while a graph has ready tasks.
TEST(fairness, a_graph_waits_for_only_a_few_tasks_of_another_graph) {
  runtime rt{{.workers = 1}};
  constexpr int tasks = 200;
  struct {
    int ran = 0;
    int before = -1;  // as many when the other graph's task ran
  } seen;
  task_graph<int> many{rt};
  many.indegree([](int) { return 1; }).body([&](int) {
    spin_for(std::chrono::microseconds(20));
    ++seen.ran;
  });
  task_graph<int> one{rt};
  one.indegree([](int) { return 1; }).body([&](int) { seen.before = seen.ran; });
  rt.run([&] {
    for (int i = 0; i < tasks; ++i) many.fulfill(i);
    one.fulfill(0);
    // A worker that waits for a graph would serve that graph first.
    detail::wait_until([&] { return seen.before >= 0; });
    many.wait();
    one.wait();
  });
  EXPECT_LT(seen.before, tasks / 2);
}

}  // namespace
}  // namespace teff::test
