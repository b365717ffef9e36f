// fork() in a program with runtimes: the calls that the child process may make. The parent notices none.
#include "workers.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

// The sanitizer's allocator has locks. Threads of the parent may hold them when the child is made.
constexpr bool allocator_may_hang = under_address_sanitizer;

// In a child process: ends it with 0 if `child()` returns "", else prints that and ends it with 1. A child
// that hangs is killed by its alarm.
[[noreturn]] void end_as(const std::function<std::string()>& child) {
  ::alarm(120);
  std::string wrong = "it threw";
  try {
    wrong = child();
  } catch (const std::exception& error) {
    wrong += std::string(": ") + error.what();
  }
  if (!wrong.empty()) std::fprintf(stderr, "in the child: %s\n", wrong.c_str());
  ::_exit(wrong.empty() ? 0 : 1);
}

// How a process ended: its status, or less than 0: the signal that killed it.
int end_of(pid_t process) {
  int status = 0;
  if (::waitpid(process, &status, 0) != process) return 99;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int in_child(const std::function<std::string()>& child) {
  const pid_t process = ::fork();
  if (process == 0) end_as(child);
  return end_of(process);
}

template <class Error, class F>
bool throws(F wrong) {
  try {
    wrong();
  } catch (const Error&) {
    return true;
  }
  return false;
}

// A future of no runtime, which is ready.
future<int> of_no_runtime() {
  co_return 4;
}

// A child that makes and uses a runtime. Not under ThreadSanitizer, which takes the child's
// threads for the parent's.
std::string works_with_its_own() {
  if (under_thread_sanitizer) return "";
  runtime own{{.workers = 3}};
  if (own.run([] { return fib(15); }) != 610) return "fib";
  std::atomic<int> done{0};
  own.run([&] {
    parallel_for(0, 1000, [&](int) { ++done; });
    scope tasks;
    for (int i = 0; i < 100; ++i) tasks.spawn([&] { ++done; });
  });
  if (done != 1100) return "loop and scope";
  task_graph<int> chain{own};
  chain.indegree([](int) { return 1; }).body([&](int i) {
    ++done;
    if (i < 10) chain.fulfill(i + 1);
  });
  chain.fulfill(0);
  chain.wait();
  return done == 1111 ? "" : "graph";
}

TEST(forked_process, makes_a_runtime_of_its_own) {
  on_runtimes([](runtime& rt) {
    EXPECT_EQ(rt.run([] { return fib(15); }), 610);
    EXPECT_EQ(in_child(works_with_its_own), 0);
    EXPECT_EQ(rt.run([] { return fib(15); }), 610);
  });
}

TEST(forked_process, makes_a_runtime_of_its_own_while_the_workers_of_the_parent_are_at_work) {
  if (allocator_may_hang) GTEST_SKIP() << "AddressSanitizer";
  on_runtimes([](runtime& rt) {
    std::atomic<bool> enough{false};
    std::thread caller([&] {
      while (!enough) {
        EXPECT_EQ(rt.run([] { return fib(18); }), 2584);
      }
    });
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(in_child(works_with_its_own), 0);
    }
    enough = true;
    caller.join();
  });
}

TEST(forked_process, gets_a_named_error_from_what_its_parent_made) {
  runtime rt{{.workers = 3}};
  task_graph<int> graph{rt};
  graph.indegree([](int) { return 1; }).body([&](int i) {
    if (i < 10) graph.fulfill(i + 1);
  });
  auto recorded = record(graph, [&] { graph.fulfill(0); });
  const auto child = [&]() -> std::string {
    if (!throws<forked_process>([&] { rt.run([] {}); })) return "run";
    if (!throws<forked_process>([&] { rt.shutdown(); })) return "shutdown";
    if (!throws<forked_process>([&] { task_graph<int> another{rt}; })) return "a new graph";
    if (!throws<forked_process>([&] { graph.fulfill(0); })) return "fulfill";
    if (!throws<forked_process>([&] { graph.wait(); })) return "wait";
    if (!throws<forked_process>([&] { static_cast<void>(record(graph, [] {})); })) return "record";
    if (!throws<forked_process>([&] { recorded.replay(); })) return "replay";
    if (rt.workers() != 3) return "workers";
    static_cast<void>(rt.counters());
    return works_with_its_own();
  };
  EXPECT_EQ(in_child(child), 0);
  recorded.replay(3);
  graph.fulfill(0);
  graph.wait();
}

TEST(forked_process, destroys_what_its_parent_made_without_waiting) {
  auto rt = std::make_unique<runtime>(runtime_options{.workers = 4});
  auto graph = std::make_unique<task_graph<int>>(*rt);
  std::atomic<bool> go_on{false};
  graph->indegree([](int) { return 1; }).body([&](int) {
    while (!go_on) std::this_thread::yield();
  });
  for (int i = 0; i < 3; ++i) graph->fulfill(i);
  std::thread waiter([&] { graph->wait(); });  // its condition variable has a waiter in the child, too
  const auto child = [&]() -> std::string {
    graph.reset();
    rt.reset();
    return works_with_its_own();
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(in_child(child), 0);
  }
  go_on = true;
  waiter.join();
}

TEST(forked_process, exits_through_static_destructors) {
  // The parent's runtime is destroyed here, too, but after it has run something again.
  static runtime global{{.workers = 4}};
  static task_graph<int> graph{global};
  static std::atomic<bool> go_on{false};
  graph.indegree([](int) { return 1; }).body([](int) {
    while (!go_on) std::this_thread::yield();
  });
  graph.fulfill(1);
  const pid_t process = ::fork();
  if (process == 0) {
    ::alarm(120);
    std::exit(7);
  }
  EXPECT_EQ(end_of(process), 7);
  go_on = true;
  graph.wait();
  EXPECT_EQ(global.run([] { return fib(10); }), 55);
}

TEST(forked_process, forks_again) {
  if (under_thread_sanitizer) GTEST_SKIP() << "no threads in a child";
  runtime rt{{.workers = 2}};
  const auto grandchild = [&]() -> std::string {
    if (!throws<forked_process>([&] { rt.run([] {}); })) return "the grandparent's runtime";
    return works_with_its_own();
  };
  const auto child = [&]() -> std::string {
    runtime own{{.workers = 2}};
    if (own.run([] { return fib(10); }) != 55) return "fib";
    const auto uses_both = [&]() -> std::string {
      if (!throws<forked_process>([&] { own.run([] {}); })) return "the parent's runtime";
      return grandchild();
    };
    if (in_child(uses_both) != 0) return "the grandchild";
    return own.run([] { return fib(10); }) == 55 ? "" : "fib after the fork";
  };
  EXPECT_EQ(in_child(child), 0);
  EXPECT_EQ(rt.run([] { return fib(10); }), 55);
}

TEST(forked_process, of_a_worker_uses_runtimes_of_its_own) {
  if (under_thread_sanitizer) GTEST_SKIP() << "no threads in a child";
  on_runtimes([](runtime& rt) {
    const auto child = [&]() -> std::string {
      if (fib(12) != 144) return "join";
      auto forked = teff::fork([] { return fib(10); });
      if (forked.get() != 55) return "fork";
      std::atomic<int> done{0};
      parallel_for(0, 1000, [&](int) { ++done; });
      scope tasks;
      for (int i = 0; i < 600; ++i) tasks.spawn([&] { ++done; });
      tasks.wait();
      if (done != 1600) return "loop and scope";
      if (!throws<forked_process>([&] { rt.run([] {}); })) return "run";
      return works_with_its_own();
    };
    EXPECT_EQ(rt.run([&] { return in_child(child); }), 0);
    EXPECT_EQ(rt.run([&] { return join([&] { return in_child(child); }, [] { return fib(12); }).second; }),
              144);
  });
}

TEST(forked_process, of_a_worker_may_use_the_cores_of_the_process) {
  if (under_thread_sanitizer) GTEST_SKIP() << "no threads in a child";
  runtime rt;
  const auto cores = rt.workers();
  EXPECT_EQ(rt.run([&] { return in_child([&] { return runtime{}.workers() == cores ? "" : "cores"; }); }), 0);
}

TEST(forked_process, of_a_worker_gets_a_named_error_from_what_its_task_began) {
  on_runtimes([](runtime& rt) {
    rt.run([&] {
      scope tasks;
      tasks.spawn([] {});
      auto forked = teff::fork([] { return 1; });
      const auto child = [&]() -> std::string {
        if (!throws<forked_process>([&] { forked.get(); })) return "get";
        if (!throws<forked_process>([&] { tasks.wait(); })) return "wait";
        return works_with_its_own();
      };
      EXPECT_EQ(in_child(child), 0);
      EXPECT_EQ(forked.get(), 1);
      tasks.wait();
    });
  });
}

TEST(forked_process, of_a_worker_that_returns_to_a_join_ends) {
  on_runtimes([](runtime& rt) {
    rt.run([] {
      pid_t process = -1;
      join(
          [&] {
            process = ::fork();
            if (process == 0) ::alarm(120);
          },
          [] {});
      if (process == 0) ::_exit(9);
      EXPECT_EQ(end_of(process), EXIT_FAILURE);
    });
  });
}

TEST(forked_process, that_returns_from_its_task_ends) {
  on_runtimes([](runtime& rt) {
    const pid_t parent = ::getpid();
    std::atomic<pid_t> process{0};
    const auto fork_in_task = [&] {
      process = ::fork();
      if (process == 0) ::alarm(120);
    };
    rt.run(fork_in_task);
    ASSERT_EQ(::getpid(), parent);
    EXPECT_EQ(end_of(process), EXIT_FAILURE);

    task_graph<int> graph{rt};
    std::atomic<int> ran{0};
    graph.indegree([](int) { return 1; }).body([&](int i) {
      ++ran;
      if (i == 0) fork_in_task();
    });
    for (int i = 0; i < 100; ++i) graph.fulfill(i);
    graph.wait();
    ASSERT_EQ(::getpid(), parent);
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(end_of(process), EXIT_FAILURE);

    auto recorded = record(graph, [&] { graph.fulfill(1); });
    recorded.replay(2, [&](int, std::uint64_t i) {
      if (i == 0) fork_in_task();
    });
    ASSERT_EQ(::getpid(), parent);
    EXPECT_EQ(end_of(process), EXIT_FAILURE);
  });
}

// A thread that fulfils from outside holds a lock of the graph now and then.
TEST(forked_process, that_returns_from_its_task_in_a_graph_takes_no_lock_of_it) {
  for (int round = 0; round < (under_thread_sanitizer ? 3 : 20); ++round) {
    runtime rt{{.workers = 3}};
    task_graph<int> graph{rt};
    std::atomic<pid_t> process{-1};
    graph.indegree([](int) { return 1; }).body([&](int i) {
      if (i != 500) return;
      process = ::fork();
      if (process == 0) ::alarm(120);
    });
    if (round % 2 == 0)
      graph.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
    if (round % 4 == 1) graph.priority([](int i) { return i % 3; });
    for (int i = 0; i < 5000; ++i) graph.fulfill(i);
    graph.wait();
    EXPECT_EQ(end_of(process), EXIT_FAILURE);
  }
}

TEST(forked_process, of_a_task_of_a_graph_gets_a_named_error_from_the_graph) {
  on_runtimes([](runtime& rt) {
    task_graph<int> graph{rt};
    int status = -1;
    const auto child = [&]() -> std::string {
      if (!throws<forked_process>([&] { graph.fulfill(1); })) return "fulfill";
      if (!throws<forked_process>([&] { graph.wait(); })) return "wait";
      return works_with_its_own();
    };
    graph.indegree([](int) { return 1; }).body([&](int i) {
      if (i == 0) status = in_child(child);
      if (i < 5) graph.fulfill(i + 1);
    });
    auto recorded = record(graph, [&] { graph.fulfill(0); });
    EXPECT_EQ(status, 0);
    status = -1;
    recorded.replay(1);
    EXPECT_EQ(status, 0);
  });
}

// Another thread may hold any lock of the library at the fork.
TEST(forked_process, finds_no_lock_held) {
  if (allocator_may_hang) GTEST_SKIP() << "AddressSanitizer";
  std::atomic<bool> enough{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&] {
      while (!enough) {
        runtime one{{.workers = 2}};
        runtime other{{.workers = 1}};
        EXPECT_EQ(one.run([&] { return other.run([] { return fib(8); }); }), 21);
        task_graph<int> outer{one};
        outer.indegree([](int) { return 1; }).body([&](int) {
          task_graph<int> inner{one};  // waits within an activity, which is noted
          inner.indegree([](int) { return 1; }).body([](int) {});
          inner.fulfill(1);
          inner.wait();
        });
        for (int key = 0; key < 4; ++key) outer.fulfill(key);
        outer.wait();
      }
    });
  }
  for (int i = 0; i < (under_thread_sanitizer ? 5 : 100); ++i) {
    EXPECT_EQ(in_child(works_with_its_own), 0);
  }
  enough = true;
  for (auto& each : others) each.join();
}

// ---- The thread that forks is, or was, a guest of a worker ----

// As a guest: on the thread that calls it.
template <class F>
void run_as_guest(runtime& rt, F f) {
  const auto me = std::this_thread::get_id();
  bool guest = false;
  while (!guest) {
    rt.run([&] {
      guest = std::this_thread::get_id() == me;
      if (guest) f();
    });
  }
}

TEST(forked_process, of_a_thread_that_has_been_a_guest_may_be_one_again) {
  for (const unsigned workers : {1U, 2U}) {
    runtime rt{{.workers = workers}};
    run_as_guest(rt, [] { EXPECT_EQ(fib(10), 55); });
    const auto child = [&]() -> std::string {
      if (!throws<forked_process>([&] { rt.run([] {}); })) return "run";
      if (under_thread_sanitizer) return "";
      runtime own{{.workers = workers}};
      long result = 0;
      run_as_guest(own, [&] { result = fib(15); });
      return result == 610 ? works_with_its_own() : "fib";
    };
    EXPECT_EQ(in_child(child), 0);
    run_as_guest(rt, [] { EXPECT_EQ(fib(10), 55); });
  }
}

// The tasks below it on the stack lie in the deque of the thread, which a runtime of the child must not take.
TEST(forked_process, of_a_guest_keeps_its_cores_and_uses_a_runtime_of_its_own) {
  runtime rt{{.workers = 1}};
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  run_as_guest(rt, [&] {
    scope tasks;
    tasks.spawn([] {});
    const auto child = [&]() -> std::string {
      cpu_set_t now;
      if (::sched_getaffinity(0, sizeof now, &now) != 0 || CPU_EQUAL(&now, &before) == 0) return "affinity";
      if (!throws<forked_process>([&] { rt.run([] {}); })) return "run";
      if (!throws<forked_process>([&] { tasks.wait(); })) return "wait";
      return works_with_its_own();
    };
    EXPECT_EQ(in_child(child), 0);
  });
  EXPECT_EQ(rt.run([] { return fib(10); }), 55);
}

TEST(forked_process, of_a_guest_that_returns_from_its_task_ends) {
  runtime rt{{.workers = 2}};
  const pid_t parent = ::getpid();
  std::atomic<pid_t> process{0};
  const auto fork_in_task = [&] {
    process = ::fork();
    if (process == 0) ::alarm(120);
  };
  run_as_guest(rt, fork_in_task);
  ASSERT_EQ(::getpid(), parent);
  EXPECT_EQ(end_of(process), EXIT_FAILURE);

  // A thread that waits for a graph runs its tasks as a guest.
  task_graph<int> graph{rt};
  graph.indegree([](int) { return 1; }).body([&](int) { fork_in_task(); });
  for (int i = 0; i < 10; ++i) {
    graph.fulfill(i);
    graph.wait();
    ASSERT_EQ(::getpid(), parent);
    EXPECT_EQ(end_of(process), EXIT_FAILURE);
  }
}

// ---- The default runtime ----

// In a child process, which can end.
TEST(forked_process, loops_in_order_when_its_default_runtime_was_shut_down_at_its_exit) {
  if (under_thread_sanitizer || allocator_may_hang) GTEST_SKIP();
  const auto ends = in_child([]() -> std::string {
    struct late {
      ~late() {
        const auto sum = parallel_reduce(0, 1000, 0, std::plus<>{}, [](int i) { return i; });
        const auto [one, two] = join([] { return 1; }, [] { return 2; });
        ::_exit(sum + one + two == 499503 ? 7 : 8);
      }
    };
    static const late destroyed_last;
    parallel_for(0, 1000, [](int) {});
    std::exit(9);
  });
  EXPECT_EQ(ends, 7);
}

// Each call is served by the workers or runs in order, also while they are being stopped.
TEST(forked_process, goes_on_with_loops_on_another_thread_while_it_exits) {
  if (under_thread_sanitizer || allocator_may_hang) GTEST_SKIP();
  const auto ends = [] {
    return in_child([]() -> std::string {
      struct service {
        std::atomic<bool> stop{false};
        std::atomic<int> after_exit{0};
        std::thread thread{[this] {
          for (; !stop; ++after_exit) parallel_for(0, 100, [](int) {});
        }};
        ~service() {
          after_exit = 0;
          while (after_exit < 100) std::this_thread::yield();
          stop = true;
          thread.join();
          ::_exit(7);
        }
      };
      static const service destroyed_last;
      parallel_for(0, 1000, [](int) {});
      std::exit(9);
    });
  };
  for (int each = 0; each < 40; ++each) ASSERT_EQ(ends(), 7);
}

TEST(forked_process, makes_a_default_runtime_of_its_own) {
  std::atomic<int> done{0};
  const auto loop = [&] {
    done = 0;
    parallel_for(0, 1000, [&](int) { ++done; });
    return done == 1000;
  };
  EXPECT_TRUE(loop());
  auto& of_parent = default_runtime();
  const auto child = [&]() -> std::string {
    if (!throws<forked_process>([&] { of_parent.run([] {}); })) return "run";
    if (under_thread_sanitizer) return "";
    if (!loop()) return "loop";
    if (&default_runtime() == &of_parent) return "the parent's";
    return loop() ? "" : "the second loop";
  };
  EXPECT_EQ(in_child(child), 0);
  const pid_t process = ::fork();
  if (process == 0) {
    ::alarm(120);
    std::exit(under_thread_sanitizer || loop() ? 7 : 8);  // both are shut down, or left
  }
  EXPECT_EQ(end_of(process), 7);
  EXPECT_TRUE(loop());
}

TEST(forked_process, gets_a_named_error_from_scopes_and_forks_of_its_parents_main_thread) {
  std::atomic<int> begun{0};
  std::atomic<bool> may_end{false};
  const auto task = [&] {
    ++begun;
    while (!may_end) std::this_thread::yield();
  };
  scope s;
  s.spawn(task);
  while (begun != 1) std::this_thread::yield();
  auto queued = fork([&] { return ++begun; });  // no worker need have begun it
  EXPECT_EQ(in_child([&]() -> std::string {
              if (!throws<forked_process>([&] { queued.get(); })) return "fork";
              return throws<forked_process>([&] { s.wait(); }) ? "" : "scope";
            }),
            0);
  may_end = true;
  EXPECT_EQ(queued.get(), 2);
  s.wait();
}

// ---- Futures ----

TEST(forked_process, gets_a_named_error_from_a_future_that_its_parent_has_not_ended) {
  runtime rt{{.workers = 2}};
  auto ready = rt.submit([] { return 2; });
  auto also_ready = rt.submit([] { return 3; });
  ready.wait();
  also_ready.wait();
  // From here on the workers are busy.
  std::atomic<bool> go_on{false};
  const auto wait = [&] {
    while (!go_on) std::this_thread::yield();
    return 1;
  };
  auto pending = rt.submit(wait);
  auto other = rt.submit(wait);
  auto coroutine = [](future<int> awaited) -> future<int> { co_return co_await std::move(awaited); };
  auto suspended = coroutine(rt.submit(wait));
  const auto child = [&]() -> std::string {
    if (!throws<forked_process>([&] { pending.wait(); })) return "wait";
    if (!throws<forked_process>([&] { pending.get(); })) return "get";
    if (!throws<forked_process>([&] { suspended.get(); })) return "a coroutine";
    if (!throws<forked_process>([&] { rt.submit([] {}); })) return "submit";
    if (!throws<forked_process>([&] { also_ready.then([](int) {}); })) return "then";
    auto any = when_any(std::move(pending), std::move(ready)).get();
    if (any.index != 1 || std::get<1>(any.futures).get() != 2) return "when_any";
    if (!throws<forked_process>([&] { std::get<0>(any.futures).get(); })) return "get after when_any";
    auto all = when_all(std::move(other), of_no_runtime());
    if (!throws<forked_process>([&] { all.get(); })) return "when_all";
    return works_with_its_own();
  };
  EXPECT_EQ(in_child(child), 0);
  go_on = true;
  EXPECT_EQ(pending.get() + other.get() + suspended.get() + ready.get() + also_ready.get(), 8);
}

TEST(forked_process, of_a_request_goes_on_or_ends) {
  for (const unsigned workers : {1U, 3U}) {
    runtime rt{{.workers = workers}};
    EXPECT_EQ(rt.submit([] { return in_child(works_with_its_own); }).get(), 0);
    std::atomic<pid_t> process{0};
    const pid_t parent = ::getpid();
    const auto fork_in_task = [&] {
      process = ::fork();
      if (process == 0) ::alarm(120);
    };
    const auto ends = [&] { return ::getpid() == parent && end_of(process) == EXIT_FAILURE; };
    rt.submit(fork_in_task).get();
    ASSERT_TRUE(ends());
    rt.submit([] {}).then(fork_in_task).get();
    ASSERT_TRUE(ends());
    rt.run([&] { rt.submit(fork_in_task).get(); });
    ASSERT_TRUE(ends());
    rt.run([&] { blocking(fork_in_task); });  // on a spare thread
    ASSERT_TRUE(ends());
    EXPECT_EQ(rt.run([&] { return blocking([] { return in_child(works_with_its_own); }); }), 0);
    [](runtime& on, const auto& then) -> future<void> {
      co_await on.submit([] {});
      then();
    }(rt, fork_in_task)
                                             .get();
    ASSERT_TRUE(ends());
  }
}

}  // namespace
}  // namespace teff::test
