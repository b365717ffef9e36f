// The errors of a task graph, and how exceptions reach the waiting thread.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "allocations.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

// The text of the error that wait() throws.
template <class Graph>
std::string error_of(Graph& g) {
  try {
    g.wait();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

template <class Error, class F>
bool ends_or_throws(F f) {
  try {
    f();
  } catch (const Error&) {
  } catch (...) {
    return false;
  }
  return true;
}

TEST(task_graph, start_runs_a_task_that_depends_on_nothing_and_refuses_any_other) {
  on_runtimes([](runtime& rt) {
    task_graph<int> g{rt};
    std::atomic<int> ran{0};
    g.indegree([](int k) { return k % 3; }).body([&](int) { ++ran; });
    for (const int k : {0, 3, 6}) g.start(k);
    EXPECT_EQ(
        text_of<misuse>([&] { g.start(5); }),
        "teff::task_graph::start: the indegree of the key 5 is 2, and start() is for tasks of indegree 0: "
        "the tasks that it depends on fulfil it");
    EXPECT_THROW(g.start(-1), negative_indegree);
    g.wait();
    EXPECT_EQ(ran, 3);
  });
}

TEST(task_graph, keys_that_are_never_satisfied_are_named_and_counted) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      task_graph<std::array<int, 2>> g{rt};
      g.indegree([](auto k) { return k[0]; }).body([](auto) {});
      if (placed) g.place([workers = rt.workers()](auto k) { return static_cast<unsigned>(k[1]) % workers; });
      for (int i = 0; i < 20; ++i) g.fulfill({3, i});
      g.fulfill({3, 7});
      try {
        g.wait();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const never_satisfied& error) {
        EXPECT_EQ(error.count, 20U);
        EXPECT_NE(std::string(error.what()).find("20 keys"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("(1 of 3)"), std::string::npos) << error.what();
      }
      g.fulfill({3, 7});  // wait() has reset the count: this is one of three
      const auto message = error_of(g);
      EXPECT_NE(message.find("1 key was"), std::string::npos) << message;
      EXPECT_NE(message.find("(3, 7) (1 of 3)"), std::string::npos) << message;
      g.wait();
    }
  });
}

// Expects wait() to throw because `key` was fulfilled once too often, and the graph to be as new then.
void expect_over_fulfilled(task_graph<int>& g, const std::string& key) {
  try {
    g.wait();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const over_fulfilled& error) {
    EXPECT_NE(std::string(error.what()).find("task " + key), std::string::npos) << error.what();
  }
  g.wait();
}

TEST(task_graph, a_key_that_one_body_fulfils_too_often_is_named) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      for (const int indegree : {1, 2}) {
        for (const int too_many : {1, 2}) {
          int ran = 0;
          task_graph<int> g{rt};
          g.indegree([&](int i) { return i == 42 ? indegree : 1; }).body([&](int i) {
            if (i == 42) ++ran;
            for (int n = 0; i == 0 && n < indegree + too_many; ++n) g.fulfill(42);
          });
          if (placed) g.place([](int) { return 0U; }, placement::must);
          g.fulfill(0);
          expect_over_fulfilled(g, "42");
          EXPECT_LE(ran, placed ? 1 : 0);
        }
      }
    }
  });
}

TEST(task_graph, a_key_of_indegree_0_or_1_that_is_fulfilled_twice_is_said_to_need_one_fulfilment) {
  runtime rt{{.workers = 1}};
  for (const bool numbered : {false, true}) {
    for (const int indegree : {0, 1, 2}) {
      task_graph<int> g{rt};
      g.indegree([=](int) { return indegree; }).body([&](int i) {
        for (int n = 0; i == 0 && n < 3; ++n) g.fulfill(42);
      });
      if (numbered) g.dense(100);
      g.fulfill(0);
      if (indegree == 2) g.fulfill(0);
      EXPECT_EQ(error_of(g), "teff::task_graph: the task 42 was fulfilled more often than its indegree, " +
                                 std::string(indegree == 2 ? "2" : "0 or 1") + ", says");
    }
  }
}

// All workers fulfil the keys from 100 on, once each. No worker goes on before all workers have done so.
TEST(task_graph, keys_without_a_place_that_several_workers_fulfil_too_often_are_named) {
  for (unsigned workers = 1; workers <= 4; ++workers) {
    runtime rt{{.workers = workers}};
    for (int round = 0; round < 8; ++round) {
      const int all = static_cast<int>(workers);
      const int keys = 1 + 8 * round;
      const bool too_many = round % 2 == 0;
      std::atomic<int> begun{0};
      std::atomic<int> done{0};
      std::atomic<int> ran{0};
      const auto meet = [all](std::atomic<int>& here) {
        ++here;
        while (here != all) std::this_thread::yield();
      };
      task_graph<int> g{rt};
      g.indegree([&](int i) { return i < 100 ? 1 : all; }).body([&](int i) {
        if (i >= 100) {
          ++ran;
          return;
        }
        meet(begun);
        for (int n = 0; n < keys; ++n) g.fulfill(100 + (n + i) % keys);
        if (too_many && i == 0) g.fulfill(100);
        meet(done);
      });
      for (int i = 0; i < all; ++i) g.fulfill(i);
      if (too_many) {
        expect_over_fulfilled(g, "100");
        EXPECT_EQ(ran, 0);
      } else {
        g.wait();
        EXPECT_EQ(ran, keys);
      }
    }
  }
}

TEST(task_graph, a_key_without_a_place_that_is_fulfilled_from_elsewhere_while_it_runs_is_named) {
  on_runtimes([](runtime& rt) {
    for (const int fulfilled : {2, 3}) {
      std::atomic<int> ran{0};
      std::atomic<bool> begun{false};
      std::atomic<bool> all_fulfilled{false};
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; }).body([&](int) {
        ++ran;
        begun = true;
        while (!all_fulfilled) std::this_thread::yield();
      });
      rt.run([&] {  // by a worker, but in no task of the graph
        g.fulfill(42);
        while (rt.workers() > 1 && !begun) std::this_thread::yield();
        for (int n = 1; n < fulfilled; ++n) g.fulfill(42);
        all_fulfilled = true;
        expect_over_fulfilled(g, "42");
      });
      EXPECT_EQ(ran, rt.workers() > 1 ? 1 : 0);
    }
  });
}

TEST(task_graph, a_key_without_a_place_that_other_threads_fulfil_too_often_is_named) {
  runtime rt{{.workers = 1}};
  std::atomic<bool> begun{false};
  std::atomic<bool> all_fulfilled{false};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([&](int i) {
    EXPECT_EQ(i, 0) << "ran, though it was fulfilled too often";
    begun = true;
    while (!all_fulfilled) std::this_thread::yield();
  });
  g.fulfill(0);
  while (!begun) std::this_thread::yield();  // the only worker
  std::thread([&] { g.fulfill(42); }).join();
  g.fulfill(42);
  all_fulfilled = true;
  expect_over_fulfilled(g, "42");
}

// A ring of tasks, each of which makes the next task ready. The worker that runs a task runs the next task
// when the first has ended.
TEST(task_graph, a_key_that_is_fulfilled_after_its_task_has_run_runs_again) {
  on_runtimes([](runtime& rt) {
    for (const int length : {2, 5}) {
      const int laps = under_sanitizer ? 100 : 2'000;
      int ran = 0;
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; }).body([&](int i) {
        if (++ran % (laps * length) != 0) g.fulfill((i + 1) % length);
      });
      for (int run = 1; run <= 2; ++run) {
        g.fulfill(0);
        g.wait();
        EXPECT_EQ(ran, run * laps * length);
      }
    }
  });
}

TEST(task_graph, a_body_that_throws_ends_the_graph_and_drops_the_rest) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      std::atomic<int> ran{0};
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; }).body([&](int i) {
        ++ran;
        if (i == 100) throw std::out_of_range("100");
        g.fulfill(i + 1);
      });
      if (placed) g.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
      g.fulfill(0);
      EXPECT_THROW(g.wait(), std::out_of_range);
      EXPECT_EQ(ran, 101);
      g.fulfill(100);
      EXPECT_THROW(g.wait(), std::out_of_range);
      g.wait();
    }
  });
}

TEST(task_graph, exceptions_at_random_reach_the_waiter) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 20; ++round) {
      const auto fatal = static_cast<int>(random() % 400);
      const bool placed = random() % 2 == 0;
      const bool with_priorities = random() % 2 == 0;
      task_graph<std::array<int, 2>> g{rt};
      g.indegree([](auto k) { return k[0] == 0 ? 0 : 2; }).body([&](auto k) {
        if (k[0] * 8 + k[1] == fatal) throw std::runtime_error("fatal");
        if (k[0] == 49) return;
        g.fulfill({k[0] + 1, k[1]});
        g.fulfill({k[0] + 1, (k[1] + 1) % 8});
      });
      if (placed) g.place([workers = rt.workers()](auto k) { return static_cast<unsigned>(k[1]) % workers; });
      if (with_priorities) g.priority([](auto k) { return k[1] % 3; });
      for (int i = 0; i < 8; ++i) g.fulfill({0, i});
      EXPECT_EQ(error_of(g), "fatal");
    }
  });
}

// Its == throws at one comparison.
struct fragile_key {
  explicit fragile_key(int of) : value(of) { ++live; }
  fragile_key(const fragile_key& other) : value(other.value) { ++live; }
  fragile_key& operator=(const fragile_key&) = default;
  ~fragile_key() { --live; }
  friend bool operator==(const fragile_key& a, const fragile_key& b) {
    if (--until_throw == 0) throw std::runtime_error("not comparable");
    return a.value == b.value;
  }
  int value;
  static inline std::atomic<int> live = 0;
  static inline std::atomic<int> until_throw = 0;
};
struct one_hash {
  std::size_t operator()(const fragile_key&) const noexcept { return 1; }
};

// Keys 0 and 2 lie in the chain in which the worker looks for key 3: once before it makes a node, and once
// after.
TEST(task_graph, keeps_no_key_when_a_comparison_throws) {
  for (const int comparison : {1, 3}) {
    runtime rt{{.workers = 2}};
    {
      task_graph<fragile_key, one_hash> g{rt};
      bool threw = false;
      g.indegree([](const fragile_key& k) { return k.value == 2 ? 2 : 1; }).body([&](const fragile_key& k) {
        if (k.value != 0) return;
        g.fulfill(fragile_key(2));
        fragile_key::until_throw = comparison;
        try {
          g.fulfill(fragile_key(3));
        } catch (const std::runtime_error&) {
          threw = true;
        }
        fragile_key::until_throw = 0;
        g.fulfill(fragile_key(2));
      });
      g.fulfill(fragile_key(0));
      g.wait();
      EXPECT_TRUE(threw);
    }
    EXPECT_EQ(fragile_key::live, 0);
  }
}

// Runs a tree of tasks, in which one allocation fails. The failure reaches the thread that fulfils or the
// thread that waits. Then the graph can be used again. Each of the first 40 allocations fails once.
template <class Key, class Set>
void survives_any_failed_allocation(Key (*key_of)(int), int (*number_of)(const Key&), Set set) {
  constexpr int inner = 30;
  runtime rt{{.workers = 2}};
  for (std::uint64_t which = 1; which <= 40; ++which) {
    SCOPED_TRACE(testing::Message() << "allocation " << which);
    std::atomic<int> ran{0};
    task_graph<Key> g{rt};
    g.indegree([](const Key&) { return 1; }).body([&](const Key& key) {
      ++ran;
      const int number = number_of(key);
      if (number >= inner) return;
      g.fulfill(key_of(2 * number + 1));
      g.fulfill(key_of(2 * number + 2));
    });
    set(g);
    fail_allocation(which);
    EXPECT_TRUE(ends_or_throws<std::bad_alloc>([&] { g.fulfill(key_of(0)); }));
    EXPECT_TRUE(ends_or_throws<std::bad_alloc>([&] { g.wait(); }));
    fail_allocation(0);
    ran = 0;
    g.fulfill(key_of(0));
    g.wait();
    EXPECT_EQ(ran, 2 * inner + 1);
  }
}

template <class Key>
void survives_any_failed_allocation(Key (*key_of)(int), int (*number_of)(const Key&)) {
  const auto place = [=](const Key& key) { return static_cast<unsigned>(number_of(key)) % 2; };
  survives_any_failed_allocation<Key>(key_of, number_of, [](auto&) {});
  survives_any_failed_allocation<Key>(key_of, number_of, [&](auto& g) { g.place(place); });
  survives_any_failed_allocation<Key>(key_of, number_of, [&](auto& g) { g.priority(number_of); });
  survives_any_failed_allocation<Key>(key_of, number_of,
                                      [&](auto& g) { g.place(place).priority(number_of); });
  survives_any_failed_allocation<Key>(key_of, number_of, [&](auto& g) { g.dense(100, number_of); });
}

TEST(task_graph, any_allocation_that_fails_is_reported_and_the_graph_can_be_used_again) {
  survives_any_failed_allocation<int>([](int number) { return number; }, [](const int& key) { return key; });
  survives_any_failed_allocation<std::string>(
      [](int number) { return std::string(20, '0') + std::to_string(number); },
      [](const std::string& key) { return std::stoi(key); });
}

TEST(task_graph, an_exception_of_a_function_reaches_the_waiter) {
  runtime rt{{.workers = 2}};
  for (const bool placed : {false, true}) {
    task_graph<int> g{rt};
    g.indegree([](int i) { return i == 5 ? throw std::domain_error("indegree") : 1; }).body([&](int i) {
      g.fulfill(i + 1);
    });
    if (placed) g.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
    g.fulfill(0);
    EXPECT_EQ(error_of(g), "indegree");
  }
}

TEST(task_graph, a_place_that_is_no_worker_is_refused) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).place([](int i) { return static_cast<unsigned>(i); }).body([&](int i) {
    g.fulfill(i + 1);
  });
  const std::string refused =
      "teff::task_graph: the place of the task 2 is worker 2, and the workers are 0 to 1: return one of "
      "these, "
      "or teff::anywhere";
  try {
    g.fulfill(2);
    ADD_FAILURE() << "nothing thrown";
  } catch (const misuse& e) {
    EXPECT_EQ(e.what(), refused);
  }
  g.fulfill(0);
  EXPECT_EQ(error_of(g), refused);
}

TEST(task_graph, an_exception_of_a_priority_reaches_the_waiter) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; })
          .priority([](int i) { return i == 5 ? throw std::domain_error("priority") : i; })
          .body([&](int i) { g.fulfill(i + 1); });
      if (placed) g.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
      for (const int first : {0, 5}) {
        g.fulfill(first);
        EXPECT_EQ(error_of(g), "priority");
      }
      g.wait();
    }
  });
}

TEST(task_graph, a_fulfilment_whose_priority_throws_does_not_count) {
  runtime rt{{.workers = 1}};
  for (const bool placed : {false, true}) {
    bool throws = true;
    int ran = 0;
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; })
        .priority([&](int i) { return i == 1 && throws ? throw std::domain_error("priority") : 0; })
        .body([&](int i) {
          ++ran;
          if (i != 0) return;
          EXPECT_THROW(g.fulfill(1), std::domain_error);
          throws = false;
          g.fulfill(1);
        });
    if (placed) g.place([](int) { return 0U; });
    g.fulfill(0);
    g.wait();
    EXPECT_EQ(ran, 2);
  }
}

TEST(task_graph, wait_within_one_of_its_tasks_is_a_named_error) {
  on_runtimes([](runtime& rt) {
    task_graph<std::array<int, 2>> g{rt};
    g.indegree([](auto) { return 1; }).body([&](auto) { g.wait(); });
    g.fulfill({4, 2});
    try {
      g.wait();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const graph_waits_for_itself& error) {
      EXPECT_NE(std::string(error.what()).find("(4, 2)"), std::string::npos) << error.what();
    }
  });
}

// The graph's destructor can't wait for the end of the task that calls it, and a destructor can't throw.
TEST(task_graph, destroyed_by_one_of_its_tasks_ends_the_program_with_the_reason) {
  if (under_thread_sanitizer) GTEST_SKIP() << "it stops children of processes with threads";
  EXPECT_DEATH(
      {
        runtime rt{{.workers = 1}};
        auto owner = std::make_unique<task_graph<int>>(rt);
        auto& g = *owner;  // the owner is empty before the graph ends
        g.indegree([](int) { return 1; }).body([&](int) { owner.reset(); });
        g.fulfill(4);
        g.wait();
      },
      "teff::task_graph: destroyed within the task 4, whose end it would wait for");
}

TEST(task_graph, used_after_shutdown_is_a_named_error) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([](int) {});
  rt.shutdown();
  EXPECT_THROW(g.fulfill(1), runtime_was_shut_down);
  EXPECT_THROW(g.wait(), runtime_was_shut_down);
}

// Another runtime may lie where the first one was.
TEST(task_graph, used_after_the_end_of_its_runtime_is_a_named_error) {
  for (const bool is_followed : {false, true}) {
    std::optional<runtime> rt;
    rt.emplace(runtime_options{.workers = 2});
    std::optional<task_graph<int>> g;
    g.emplace(*rt);
    g->indegree([](int) { return 1; }).body([](int) {});
    auto recorded = record(*g, [&] { g->fulfill(1); });
    rt.reset();
    if (is_followed) rt.emplace(runtime_options{.workers = 2});
    const std::string reason =
        ": its runtime was destroyed; a runtime must outlive its graphs, flows and recordings";
    EXPECT_EQ(text_of<runtime_was_shut_down>([&] { g->fulfill(1); }), "teff::task_graph::fulfill" + reason);
    EXPECT_EQ(text_of<runtime_was_shut_down>([&] { g->wait(); }), "teff::task_graph::wait" + reason);
    EXPECT_EQ(text_of<runtime_was_shut_down>([&] { static_cast<void>(record(*g, [] {})); }),
              "teff::record" + reason);
    const auto replay = [&] { recorded.replay(); };
    EXPECT_EQ(text_of<runtime_was_shut_down>(replay), "teff::recording::replay" + reason);
    g.reset();
    EXPECT_EQ(text_of<runtime_was_shut_down>(replay), "teff::recording::replay" + reason);
  }
}

TEST(task_graph, with_unfinished_work_that_outlives_its_runtime_says_so_and_destroys_its_keys) {
  std::optional<runtime> rt;
  rt.emplace(runtime_options{.workers = 2});
  testing::internal::CaptureStderr();
  {
    task_graph<std::string> g{*rt};
    g.indegree([](const std::string&) { return 2; }).body([](const std::string&) {});
    rt->run([&] { g.fulfill("a key that no short string can hold"); });
    rt.reset();
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("unfinished work"), std::string::npos);
}

TEST(task_graph, the_function_that_is_missing_is_named) {
  runtime rt{{.workers = 1}};
  task_graph<int> g{rt};
  const auto refusal = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const misuse& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([&] { g.fulfill(1); }), "teff::task_graph::fulfill: the graph has no indegree()");
  g.indegree([](int) { return 1; });
  EXPECT_EQ(refusal([&] { g.fulfill(1); }), "teff::task_graph::fulfill: the graph has no body()");
  EXPECT_EQ(refusal([&] { static_cast<void>(record(g, [] {})); }), "teff::record: the graph has no body()");
}

TEST(task_graph, destroyed_with_unfinished_work_says_so) {
  runtime rt{{.workers = 2}};
  for (const bool placed : {false, true}) {
    std::atomic<bool> begun{false};
    testing::internal::CaptureStderr();
    {
      task_graph<std::string> g{rt};
      g.indegree([](const std::string& key) { return key == "runs" ? 1 : 2; }).body([&](const std::string&) {
        begun = true;
        for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      });
      if (placed)
        g.place([workers = rt.workers()](const std::string& key) {
          return static_cast<unsigned>(key.size()) % workers;
        });
      g.fulfill("runs");
      g.fulfill("waits");
      while (!begun) std::this_thread::yield();
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("unfinished work"), std::string::npos);
  }
}

}  // namespace
}  // namespace teff::test
