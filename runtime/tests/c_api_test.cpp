// The C interface (teff.h): the effect and the status of each call. examples/c_api.c shows that it is C99.
#include "c_runtimes.hpp"

#include <teff/teff.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

TEST(c_api, says_its_version) {
  EXPECT_STREQ(teff_version(), TEFF_PROJECT_VERSION);
}

TEST(c_api, runs_a_body_on_a_worker_and_returns_what_it_returns) {
  on_c_runtimes([](const c_runtime& runtime) {
    EXPECT_EQ(run(runtime,
                  [&] {
                    return teff_worker_index() < static_cast<int>(teff_runtime_workers(runtime.get())) ? 0
                                                                                                       : 1;
                  }),
              teff_ok);
    EXPECT_EQ(run(runtime, [] { return 7; }), 7);
    EXPECT_STREQ(teff_last_error(), "a body returned 7");
    EXPECT_EQ(run(runtime, [&] { return run(runtime, [] { return 8; }); }), 8);
    EXPECT_EQ(run(runtime, [] { return 0; }), teff_ok);
    EXPECT_STREQ(teff_last_error(), "a body returned 8");  // of the last call that failed
  });
  EXPECT_EQ(teff_worker_index(), -1);
}

TEST(c_api, has_the_workers_that_are_asked_for) {
  EXPECT_EQ(teff_runtime_workers(made(3).get()), 3U);
  EXPECT_EQ(teff_runtime_workers(made(0).get()), runtime{}.workers());
  teff_runtime* none = reinterpret_cast<teff_runtime*>(1);
  EXPECT_EQ(teff_runtime_make(1'000'000, &none), teff_invalid_option);
  EXPECT_EQ(none, nullptr);
  EXPECT_STREQ(
      teff_last_error(),
      "teff::runtime_options::workers=1000000: there can be 1 to 1024 workers; leave it out to have one for "
      "each core "
      "it may use");
  EXPECT_EQ(teff_runtime_end(nullptr), teff_ok);
}

TEST(c_api, does_not_end_a_runtime_on_its_own_worker) {
  const auto runtime = made(2);
  EXPECT_EQ(run(runtime, [&] { return teff_runtime_end(runtime.get()); }), teff_misused);
  EXPECT_NE(std::string(teff_last_error()).find("shutdown"), std::string::npos) << teff_last_error();
  EXPECT_EQ(run(runtime, [] { return 5; }), 5);
}

// ---- Loops ----

TEST(c_api, loop_runs_each_iteration_once) {
  constexpr std::int64_t first = -1000;
  constexpr std::int64_t last = 100'000;
  on_c_runtimes([](const c_runtime& runtime) {
    std::vector<std::atomic<int>> ran(last - first);
    const auto count = [](std::int64_t begin, std::int64_t end, void* context) {
      auto& counts = *static_cast<std::vector<std::atomic<int>>*>(context);
      for (auto i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(i - first)];
      return 0;
    };
    for (const std::size_t grain : {0U, 1U, 1000U}) {
      EXPECT_EQ(run(runtime, [&] { return teff_parallel_for(first, last, grain, count, &ran); }), teff_ok);
    }
    EXPECT_EQ(teff_parallel_for(first, last, 0, count, &ran), teff_ok);  // outside the workers
    EXPECT_EQ(teff_parallel_for(5, 5, 0, count, &ran), teff_ok);
    EXPECT_EQ(teff_parallel_for(5, 4, 0, count, &ran), teff_ok);
    for (const auto& each : ran) ASSERT_EQ(each, 4);
  });
}

TEST(c_api, loop_returns_what_a_part_returns) {
  on_c_runtimes([](const c_runtime& runtime) {
    const auto fail = [](std::int64_t begin, std::int64_t end, void*) {
      return begin <= 700 && 700 < end ? 70 : 0;
    };
    EXPECT_EQ(run(runtime, [&] { return teff_parallel_for(0, 1000, 10, fail, nullptr); }), 70);
    EXPECT_STREQ(teff_last_error(), "a body returned 70");
  });
}

// ---- Scopes ----

struct fib_call {
  int n;
  long value;
};

int c_fib(void* context) {
  auto& call = *static_cast<fib_call*>(context);
  call.value = call.n;
  if (call.n < 2) return 0;
  fib_call one{call.n - 1, 0};
  fib_call two{call.n - 2, 0};
  teff_scope tasks;
  teff_scope_begin(&tasks);
  teff_scope_spawn(&tasks, c_fib, &one);
  const int here = c_fib(&two);
  const int there = teff_scope_end(&tasks);
  call.value = one.value + two.value;
  return here != 0 ? here : there;
}

TEST(c_api, scope_recurses) {
  on_c_runtimes([](const c_runtime& runtime) {
    fib_call call{18, 0};
    EXPECT_EQ(teff_run(runtime.get(), c_fib, &call), teff_ok);
    EXPECT_EQ(call.value, 2584);
  });
  fib_call call{10, 0};
  EXPECT_EQ(c_fib(&call), 0);  // outside the workers
  EXPECT_EQ(call.value, 55);
}

int count_one(void* context) {
  ++*static_cast<std::atomic<int>*>(context);
  return 0;
}

TEST(c_api, loops_and_scopes_outside_the_workers_run_on_workers) {
  std::atomic<int> outside{0};
  const auto look = [](void* context) {
    *static_cast<std::atomic<int>*>(context) += teff_worker_index() < 0 ? 1 : 0;
    return 0;
  };
  teff_scope tasks;
  teff_scope_begin(&tasks);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(teff_scope_spawn(&tasks, look, &outside), teff_ok);
  EXPECT_EQ(teff_scope_end(&tasks), teff_ok);
  const auto look_in_loop = [](std::int64_t, std::int64_t, void* context) {
    *static_cast<std::atomic<int>*>(context) += teff_worker_index() < 0 ? 1 : 0;
    return 0;
  };
  EXPECT_EQ(teff_parallel_for(0, 1000, 1, look_in_loop, &outside), teff_ok);
  EXPECT_EQ(outside, 0);
}

TEST(c_api, scope_runs_all_its_tasks_and_may_begin_again) {
  on_c_runtimes([](const c_runtime& runtime) {
    std::atomic<int> ran{0};
    EXPECT_EQ(run(runtime,
                  [&] {
                    teff_scope tasks;
                    for (int round = 0; round < 2; ++round) {
                      teff_scope_begin(&tasks);
                      for (int i = 0; i < 1000; ++i) teff_scope_spawn(&tasks, count_one, &ran);
                      if (teff_scope_end(&tasks) != 0 || ran != 1000 * (round + 1)) return 1;
                    }
                    return 0;
                  }),
              teff_ok);
  });
}

TEST(c_api, scope_drops_tasks_after_one_that_failed_and_returns_its_status) {
  on_c_runtimes([](const c_runtime& runtime) {
    std::atomic<int> ran{0};
    EXPECT_EQ(run(runtime,
                  [&] {
                    teff_scope tasks;
                    teff_scope_begin(&tasks);
                    teff_scope_spawn(&tasks, [](void*) { return 9; }, nullptr);
                    while (teff_runtime_workers(runtime.get()) > 1 && teff_scope_cancelled(&tasks) == 0)
                      teff_scope_spawn(&tasks, count_one, &ran);  // which has thieves look for work
                    return teff_scope_end(&tasks);
                  }),
              9);
    EXPECT_STREQ(teff_last_error(), "a body returned 9");
  });
}

TEST(c_api, scope_that_is_cancelled_drops_its_tasks) {
  const auto runtime = made(1);
  std::atomic<int> ran{0};
  EXPECT_EQ(run(runtime,
                [&] {
                  teff_scope tasks;
                  teff_scope_begin(&tasks);
                  if (teff_scope_cancelled(&tasks) != 0) return 1;
                  teff_scope_spawn(&tasks, count_one, &ran);
                  teff_scope_cancel(&tasks);
                  if (teff_scope_cancelled(&tasks) != 1) return 2;
                  return teff_scope_end(&tasks);
                }),
            teff_ok);
  EXPECT_EQ(ran, 0);
}

TEST(c_api, scope_that_may_not_end_yet_goes_on) {
  const auto runtime = made(2);
  std::atomic<int> ran{0};
  EXPECT_EQ(run(runtime,
                [&] {
                  teff_scope older;
                  teff_scope younger;
                  teff_scope_begin(&older);
                  teff_scope_begin(&younger);
                  teff_scope_spawn(&younger, count_one, &ran);
                  if (teff_scope_end(&older) != teff_misused) return 1;
                  EXPECT_NE(std::string(teff_last_error()), "");  // of the thread that this runs on
                  if (teff_scope_end(&younger) != teff_ok) return 2;
                  teff_scope_spawn(&older, count_one, &ran);
                  return teff_scope_end(&older);
                }),
            teff_ok);
  EXPECT_EQ(ran, 2);
}

TEST(c_api, scope_whose_task_passes_a_status_of_libteff_on_has_ended) {
  const auto runtime = made(1);
  EXPECT_EQ(run(runtime,
                [&] {
                  teff_scope tasks;
                  teff_scope_begin(&tasks);
                  teff_scope_spawn(&tasks, [](void*) -> int { return teff_misused; }, nullptr);
                  if (teff_scope_end(&tasks) != teff_misused) return 1;
                  fib_call call{10, 0};  // makes scopes where that one was
                  return c_fib(&call);
                }),
            teff_ok);
}

// ---- Task graphs ----

struct task_chain {
  std::uint64_t length = 0;
  std::atomic<std::uint64_t> ran{0};
  int fails_with = 0;
};

int chain_indegree(std::uint64_t key, void*) {
  return key == 0 ? 0 : 1;
}
int chain_body(teff_graph* graph, std::uint64_t key, void* context) {
  auto& all = *static_cast<task_chain*>(context);
  ++all.ran;
  if (key + 1 < all.length) return teff_graph_fulfill(graph, key + 1);
  return all.fails_with;
}

TEST(c_api, graph_runs_tasks_after_their_predecessors) {
  on_c_runtimes([](const c_runtime& runtime) {
    for (const std::size_t dense : {0, 1000}) {
      task_chain all{.length = 1000};
      const auto graph = made(runtime, {chain_indegree, chain_body, nullptr, nullptr, &all, dense});
      for (std::uint64_t round = 1; round <= 2; ++round) {
        EXPECT_EQ(teff_graph_fulfill(graph.get(), 0), teff_ok);
        EXPECT_EQ(teff_graph_wait(graph.get()), teff_ok);
        EXPECT_EQ(all.ran, 1000 * round);
      }
    }
  });
}

TEST(c_api, graph_runs_tasks_at_their_place) {
  const auto runtime = made(3);
  std::array<unsigned, 30> ran_on{};
  teff_graph_functions functions{};
  functions.indegree = [](std::uint64_t, void*) { return 1; };
  functions.body = [](teff_graph*, std::uint64_t key, void* context) {
    (*static_cast<std::array<unsigned, 30>*>(context))[key] = static_cast<unsigned>(teff_worker_index());
    return 0;
  };
  functions.place = [](std::uint64_t key, void*) -> int {
    return key < 20 ? static_cast<int>(key % 3) : teff_anywhere;
  };
  functions.context = &ran_on;
  const auto graph = made(runtime, functions);
  for (std::uint64_t key = 0; key < 30; ++key) EXPECT_EQ(teff_graph_fulfill(graph.get(), key), teff_ok);
  EXPECT_EQ(teff_graph_wait(graph.get()), teff_ok);
  for (unsigned key = 0; key < 20; ++key) EXPECT_EQ(ran_on[key], key % 3);
}

TEST(c_api, graph_runs_the_task_of_the_highest_priority_first) {
  const auto runtime = made(1);
  struct {
    std::vector<std::uint64_t> order;
  } all;
  teff_graph_functions functions{};
  functions.indegree = [](std::uint64_t, void*) { return 1; };
  functions.body = [](teff_graph* graph, std::uint64_t key, void* context) {
    static_cast<decltype(all)*>(context)->order.push_back(key);
    for (std::uint64_t next = 1; key == 0 && next <= 5; ++next) {
      if (const int failed = teff_graph_fulfill(graph, next); failed != 0) return failed;
    }
    return 0;
  };
  functions.priority = [](std::uint64_t key, void*) { return static_cast<int>(key % 3); };
  functions.place = [](std::uint64_t, void*) { return 0; };
  functions.context = &all;
  const auto graph = made(runtime, functions);
  EXPECT_EQ(teff_graph_fulfill(graph.get(), 0), teff_ok);
  EXPECT_EQ(teff_graph_wait(graph.get()), teff_ok);
  EXPECT_EQ(all.order, (std::vector<std::uint64_t>{0, 2, 5, 1, 4, 3}));
}

TEST(c_api, graph_returns_what_a_body_returns) {
  on_c_runtimes([](const c_runtime& runtime) {
    task_chain all{.length = 5, .fails_with = 77};
    const auto graph = made(runtime, {chain_indegree, chain_body, nullptr, nullptr, &all, 0});
    EXPECT_EQ(teff_graph_fulfill(graph.get(), 0), teff_ok);
    EXPECT_EQ(teff_graph_wait(graph.get()), 77);
    EXPECT_STREQ(teff_last_error(), "a body returned 77");
    EXPECT_EQ(teff_graph_wait(graph.get()), teff_ok);
  });
}

TEST(c_api, graph_names_each_misuse) {
  const auto runtime = made(2);
  teff_graph* none = reinterpret_cast<teff_graph*>(1);
  const teff_graph_functions empty{};
  EXPECT_EQ(teff_graph_make(runtime.get(), &empty, &none), teff_misused);
  EXPECT_EQ(none, nullptr);
  EXPECT_STREQ(teff_last_error(), "teff_graph_make: there is no indegree()");
  teff_graph_end(nullptr);

  teff_graph_functions functions{};
  functions.indegree = [](std::uint64_t, void*) { return 2; };
  EXPECT_EQ(teff_graph_make(runtime.get(), &functions, &none), teff_misused);
  EXPECT_STREQ(teff_last_error(), "teff_graph_make: there is no body()");
  functions.body = [](teff_graph*, std::uint64_t, void*) { return 0; };
  {
    const auto graph = made(runtime, functions);
    EXPECT_EQ(teff_graph_fulfill(graph.get(), 3), teff_ok);
    EXPECT_EQ(teff_graph_wait(graph.get()), teff_never_satisfied);
    EXPECT_NE(std::string(teff_last_error()).find("3 (1 of 2)"), std::string::npos) << teff_last_error();
  }
  functions.indegree = [](std::uint64_t, void*) { return 1; };
  functions.body = [](teff_graph* graph, std::uint64_t key, void*) { return teff_graph_fulfill(graph, key); };
  {
    const auto graph = made(runtime, functions);
    EXPECT_EQ(teff_graph_fulfill(graph.get(), 3), teff_ok);
    EXPECT_EQ(teff_graph_wait(graph.get()), teff_over_fulfilled);
  }
  functions.dense = 3;
  {
    const auto graph = made(runtime, functions);
    EXPECT_EQ(teff_graph_fulfill(graph.get(), 3), teff_ok);
    EXPECT_EQ(teff_graph_wait(graph.get()), teff_misused);
    EXPECT_NE(std::string(teff_last_error()).find("below 3"), std::string::npos) << teff_last_error();
  }
  functions.dense = 0;
  functions.body = [](teff_graph* graph, std::uint64_t, void*) { return teff_graph_wait(graph); };
  {
    const auto graph = made(runtime, functions);
    EXPECT_EQ(teff_graph_fulfill(graph.get(), 3), teff_ok);
    EXPECT_EQ(teff_graph_wait(graph.get()), teff_graph_waits_for_itself);  // passed on, with its text
    EXPECT_NE(std::string(teff_last_error()).find("called within the task 3"), std::string::npos)
        << teff_last_error();
  }
}

// ---- What crosses the border ----

TEST(c_api, names_arguments_that_are_null) {
  EXPECT_EQ(teff_runtime_make(1, nullptr), teff_misused);
  EXPECT_NE(std::string(teff_last_error()).find("teff_runtime_make: `made` is NULL"), std::string::npos);
  EXPECT_EQ(teff_parallel_for(0, 10, 0, nullptr, nullptr), teff_misused);
  EXPECT_NE(std::string(teff_last_error()).find("the body is NULL"), std::string::npos);
  EXPECT_EQ(teff_run(nullptr, nullptr, nullptr), teff_misused);
  EXPECT_NE(std::string(teff_last_error()).find("the runtime or the body is NULL"), std::string::npos);
  teff_graph* graph = nullptr;
  EXPECT_EQ(teff_graph_make(nullptr, nullptr, &graph), teff_misused);
  EXPECT_EQ(graph, nullptr);
  EXPECT_NE(std::string(teff_last_error()).find("the runtime or the functions are NULL"), std::string::npos);
  EXPECT_EQ(teff_graph_fulfill(nullptr, 0), teff_misused);
  EXPECT_EQ(teff_graph_wait(nullptr), teff_misused);
  EXPECT_NE(std::string(teff_last_error()).find("teff_graph_wait: "), std::string::npos);
  EXPECT_EQ(teff_runtime_workers(nullptr), 0U);
  teff_scope scope;
  teff_scope_begin(&scope);
  teff_scope_spawn(&scope, nullptr, nullptr);
  EXPECT_EQ(teff_scope_end(&scope), teff_misused);
  EXPECT_NE(std::string(teff_last_error()).find("the task is NULL"), std::string::npos);
}

TEST(c_api, a_body_that_returns_its_own_status_gets_no_older_text) {
  const auto runtime = made(1);
  EXPECT_EQ(run(runtime, [] { return 42; }), 42);
  EXPECT_EQ(run(runtime, [] { return static_cast<int>(teff_out_of_memory); }), teff_out_of_memory);
  EXPECT_STREQ(teff_last_error(), ("a body returned " + std::to_string(teff_out_of_memory)).c_str());
}

TEST(c_api, lets_no_exception_out) {
  const auto runtime = made(2);
  EXPECT_EQ(run(runtime, []() -> int { throw std::out_of_range("a body of C++"); }), teff_exception);
  EXPECT_STREQ(teff_last_error(), "a body of C++");
  EXPECT_EQ(run(runtime, []() -> int { throw 3; }), teff_exception);
  EXPECT_EQ(run(runtime, []() -> int { throw std::bad_alloc(); }), teff_out_of_memory);
  EXPECT_EQ(run(runtime, []() -> int { throw std::system_error(EAGAIN, std::generic_category(), "a body"); }),
            teff_system_error);
  EXPECT_EQ(teff_parallel_for(
                0, 1, 0, [](std::int64_t, std::int64_t, void*) -> int { throw std::runtime_error("a loop"); },
                nullptr),
            teff_exception);
  EXPECT_STREQ(teff_last_error(), "a loop");
}

TEST(c_api, keeps_the_last_error_of_each_thread) {
  const auto runtime = made(1);
  EXPECT_EQ(run(runtime, [] { return 4; }), 4);
  std::thread([] { EXPECT_STREQ(teff_last_error(), ""); }).join();
  EXPECT_STREQ(teff_last_error(), "a body returned 4");
  const std::string longer(2000, 'x');
  EXPECT_EQ(run(runtime, [&]() -> int { throw std::runtime_error(longer); }), teff_exception);
  EXPECT_EQ(longer.find(teff_last_error()), 0U);  // its beginning
}

TEST(c_api, of_a_forked_process_names_the_error) {
  const auto runtime = made(2);
  task_chain all{.length = 5};
  const auto graph = made(runtime, {chain_indegree, chain_body, nullptr, nullptr, &all, 0});
  const pid_t process = ::fork();
  if (process == 0) {
    ::alarm(120);
    const teff_graph_functions functions{chain_indegree, chain_body, nullptr, nullptr, &all, 0};
    teff_graph* another = nullptr;
    int wrong = 0;
    wrong |= run(runtime, [] { return 0; }) != teff_forked_process ? 1 : 0;
    wrong |= teff_graph_make(runtime.get(), &functions, &another) != teff_forked_process ? 2 : 0;
    wrong |= teff_graph_fulfill(graph.get(), 0) != teff_forked_process ? 4 : 0;
    wrong |= teff_graph_wait(graph.get()) != teff_forked_process ? 8 : 0;
    teff_graph_end(graph.get());
    wrong |= teff_runtime_end(runtime.get()) != teff_ok ? 16 : 0;
    ::_exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace teff::test
