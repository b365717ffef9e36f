// Tasks with a place whose worker does not get to them. Worker 1 is in a long task until other tasks have
// run. Worker 0 takes them: it still looks for work when worker 1 has begun that task.
#include <gtest/gtest.h>
#include <teff/teff.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

constexpr int long_task = -1;  // at worker 1
constexpr int awake = -2;      // at worker 0, until the long task has begun

template <class Key>
Key key_of(int i) {
  if constexpr (std::is_same_v<Key, std::string>)
    return std::to_string(i);
  else
    return i;
}
template <class Key>
int number_of(const Key& key) {
  if constexpr (std::is_same_v<Key, std::string>)
    return std::stoi(key);
  else
    return key;
}

// Runs a graph of `tasks` further tasks: `seed` makes the first of them ready, and `body` runs each.
template <class Key, class Place, class Seed, class Body>
void run_beside_long_task(runtime& rt, task_graph<Key>& g, int tasks, Place place, Seed seed, Body body) {
  std::atomic<bool> long_task_began{false};
  std::atomic<int> ran{0};
  g.indegree([](const Key&) { return 1; })
      .place([=](const Key& key) {
        const int i = number_of(key);
        return i == long_task ? 1U : i == awake ? 0U : place(i);
      })
      .body([&](const Key& key) {
        const int i = number_of(key);
        if (i == long_task) {
          long_task_began = true;
          while (ran != tasks) std::this_thread::yield();
        } else if (i == awake) {
          while (!long_task_began) std::this_thread::yield();
          seed();
        } else {
          body(i);
          ++ran;
        }
      });
  rt.run([&] {
    g.fulfill(key_of<Key>(awake));
    g.fulfill(key_of<Key>(long_task));
    g.wait();
  });
  EXPECT_EQ(ran, tasks);
}

// Chains of tasks from place to place.
template <class Key>
void run_chains() {
  constexpr int chains = 16;
  constexpr int tasks = chains * 200;
  runtime rt{{.workers = 2, .bind = false}};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::atomic<int>> ran(tasks);
    task_graph<Key> g{rt};
    run_beside_long_task(
        rt, g, tasks, [](int i) { return static_cast<unsigned>(i % chains + i / chains) % 2; },
        [&] {
          for (int i = 0; i < chains; ++i) g.fulfill(key_of<Key>(i));
        },
        [&](int i) {
          ++ran[static_cast<std::size_t>(i)];
          if (i + chains < tasks) g.fulfill(key_of<Key>(i + chains));
        });
    for (auto& each : ran) EXPECT_EQ(each, 1);
  }
}

TEST(taken_places, tasks_run_elsewhere_while_their_worker_is_in_a_long_task) {
  run_chains<int>();
  run_chains<std::string>();
}

// Task 0 is at place 1, task 1 at place 0, and so on: one key of each place is used again and again.
TEST(taken_places, a_key_whose_task_was_taken_and_has_ended_can_be_fulfilled_again) {
  runtime rt{{.workers = 2, .bind = false}};
  constexpr int times = 500;
  int ran = 0;
  task_graph<int> g{rt};
  run_beside_long_task(
      rt, g, times, [](int i) { return i == 0 ? 1U : 0U; }, [&] { g.fulfill(0); },
      [&](int i) {
        if (++ran != times) g.fulfill(1 - i);
      });
  EXPECT_EQ(ran, times);
}

// A message is a key that needs no task.
TEST(taken_places, a_task_that_was_taken_sends_messages_to_the_worker_that_runs_it) {
  runtime rt{{.workers = 2, .bind = false}};
  constexpr int tasks = 100;
  constexpr int first_message = 1000;
  std::atomic<int> messages{0};
  task_graph<int> g{rt};
  g.received([&](int i) {
    messages += i >= first_message;
    return i < first_message;
  });
  run_beside_long_task(
      rt, g, tasks, [](int i) { return i < first_message ? 1U : 0U; },
      [&] {
        for (int i = 0; i < tasks; ++i) g.fulfill(i);
      },
      [&](int i) { g.fulfill(first_message + i); });
  EXPECT_EQ(messages, tasks);
}

// The long task fulfils keys of each place and of none when others have taken its place before.
TEST(taken_places, a_task_fulfils_keys_as_ever_after_another_worker_was_in_its_place) {
  runtime rt{{.workers = 2, .bind = false}};
  for (int round = 0; round < 50; ++round) {
    constexpr int given = 12;
    std::atomic<int> ran{0};
    std::atomic<bool> first_ran{false};
    std::atomic<bool> long_task_began{false};
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; })
        .place([](int i) {
          return i == awake ? 0U : i <= 0 ? 1U : i % 3 == 0 ? anywhere : i % 3 - 1U;
        })
        .body([&](int i) {
          ++ran;
          if (i == awake) {
            while (!long_task_began) std::this_thread::yield();
            g.fulfill(0);
          } else if (i == long_task) {
            long_task_began = true;
            while (!first_ran) std::this_thread::yield();
            for (int k = 1; k <= given; ++k) g.fulfill(k);
          } else if (i == 0) {
            first_ran = true;
          }
        });
    rt.run([&] {
      g.fulfill(awake);
      g.fulfill(long_task);
      g.wait();
    });
    EXPECT_EQ(ran, 3 + given);
  }
}

// A key whose node holds a token until its task has ended.
struct held_key {
  int number;
  std::shared_ptr<int> token{};
  bool operator==(const held_key& other) const { return number == other.number; }
};
struct hash_of_number {
  std::size_t operator()(const held_key& key) const { return static_cast<std::size_t>(key.number); }
};

TEST(taken_places, a_task_whose_handle_is_released_ends_elsewhere_while_its_worker_is_in_a_long_task) {
  runtime rt{{.workers = 2, .bind = false}};
  for (int round = 0; round < 20; ++round) {
    auto token = std::make_shared<int>();
    held_task handle;
    std::atomic<bool> long_task_began{false};
    task_graph<held_key, hash_of_number> g{rt};
    g.indegree([](const held_key&) { return 1; })
        .place([](const held_key& key) { return key.number == awake ? 0U : 1U; })
        .body([&](const held_key& key) {
          if (key.number == 0) {
            handle = g.hold_end();
            g.fulfill({long_task});
          } else if (key.number == awake) {
            while (!long_task_began) std::this_thread::yield();
            handle.release();
          } else {
            long_task_began = true;
            while (token.use_count() != 1) std::this_thread::yield();
          }
        });
    rt.run([&] {
      g.fulfill({awake});
      g.fulfill({0, token});
      g.wait();
    });
  }
}

// Worker 0 has looked for work for a millisecond when the long task ends. All other tasks lie ready behind
// it.
TEST(taken_places, tasks_whose_places_bind_run_there_alone) {
  runtime rt{{.workers = 2, .bind = false}};
  std::atomic<int> elsewhere{0};
  std::atomic<bool> other_ran{false};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; })
      .place([](int i) { return i == awake ? 0U : 1U; }, placement::must)
      .body([&](int i) {
        if (i == awake) {
          other_ran = true;
          return;
        }
        elsewhere += *worker_index() != 1;
        if (i != long_task) return;
        while (!other_ran) std::this_thread::yield();
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{1};
        while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
      });
  rt.run([&] {
    g.fulfill(long_task);
    for (int i = 0; i < 100; ++i) g.fulfill(i);
    g.fulfill(awake);
    g.wait();
  });
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
}  // namespace teff::test
