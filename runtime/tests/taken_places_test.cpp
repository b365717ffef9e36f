// Tasks with a place whose worker does not get to them.
#include <gtest/gtest.h>
#include <teff/teff.hpp>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

template <class Key>
Key key_of(int i) {
  if constexpr (std::is_same_v<Key, std::string>)
    return std::to_string(i);
  else
    return i;
}

// Chains of tasks from worker to worker. The first task holds up its worker until all others have run.
template <class Key>
void run_chains_beside_a_long_task(bool from_outside) {
  constexpr int chains = 16;
  constexpr int length = 200;
  constexpr int tasks = chains * length;
  runtime rt{{.workers = 2, .bind = false}};
  const auto number = [](const Key& key) {
    if constexpr (std::is_same_v<Key, std::string>)
      return std::stoi(key);
    else
      return key;
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<std::atomic<int>> ran(tasks + 1);
    std::atomic<int> all{0};
    task_graph<Key> g{rt};
    g.indegree([](const Key&) { return 1; })
        .place([=](const Key& key) {
          const int i = number(key);
          return i == tasks ? 1U : static_cast<unsigned>(i % chains + i / chains) % 2;
        })
        .body([&](const Key& key) {
          const int i = number(key);
          ++ran[static_cast<std::size_t>(i)];
          if (i == tasks) {
            while (all != tasks) std::this_thread::yield();
            return;
          }
          ++all;
          if (i + chains < tasks) g.fulfill(key_of<Key>(i + chains));
        });
    const auto run = [&] {
      g.fulfill(key_of<Key>(tasks));
      for (int i = 0; i < chains; ++i) g.fulfill(key_of<Key>(i));
      g.wait();
    };
    from_outside ? run() : rt.run(run);
    for (auto& each : ran) EXPECT_EQ(each, 1);
  }
}

TEST(taken_places, tasks_run_elsewhere_while_their_worker_is_in_a_long_task) {
  for (const bool from_outside : {false, true}) {
    run_chains_beside_a_long_task<int>(from_outside);
    run_chains_beside_a_long_task<std::string>(from_outside);
  }
}

// The long task 0 fulfils keys of each place and of none after another worker was in its place. Task -1 keeps
// that worker awake until task 0 has begun, and fulfils the key for which the worker looks there.
TEST(taken_places, a_task_fulfils_keys_as_ever_after_another_worker_was_in_its_place) {
  runtime rt{{.workers = 2, .bind = false}};
  constexpr int rounds = 50;
  constexpr int given = 10;
  std::atomic<int> ran{0};
  for (int round = 0; round < rounds; ++round) {
    std::atomic<bool> first_began{false};
    std::atomic<bool> second_ran{false};
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; })
        .place([](int i) {
          return i < 0 ? 0U : i < 2 ? 1U : i % 3 == 0 ? anywhere : static_cast<unsigned>(i % 2);
        })
        .body([&](int i) {
          ++ran;
          if (i == -1) {
            while (!first_began) std::this_thread::yield();
            g.fulfill(1);
          } else if (i == 0) {
            first_began = true;
            while (!second_ran) std::this_thread::yield();
            for (int k = 2; k < 2 + given; ++k) g.fulfill(k);
          } else if (i == 1) {
            second_ran = true;
          }
        });
    rt.run([&] {
      g.fulfill(-1);
      g.fulfill(0);
      g.wait();
    });
  }
  EXPECT_EQ(ran, rounds * (3 + given));
}

// Key 1 is used again and again: its task ends on the worker that has taken the place, and is fulfilled then.
TEST(taken_places, a_key_whose_task_has_ended_elsewhere_can_be_fulfilled_again) {
  runtime rt{{.workers = 2, .bind = false}};
  constexpr int times = 500;
  int ran = 0;
  std::atomic<bool> over{false};
  task_graph<int> g{rt};
  // 1 and 2 take turns, 1 at the place of the long task 0, and 2 at the place of the worker that takes it.
  g.indegree([](int) { return 1; }).place([](int i) { return i < 2 ? 1U : 0U; }).body([&](int i) {
    if (i == 0) {
      while (!over) std::this_thread::yield();
    } else if (++ran == times) {
      over = true;
    } else {
      g.fulfill(3 - i);
    }
  });
  rt.run([&] {
    g.fulfill(0);
    g.fulfill(2);
    g.wait();
  });
  EXPECT_EQ(ran, times);
}

TEST(taken_places, a_place_that_binds_is_not_taken) {
  runtime rt{{.workers = 2, .bind = false}};
  std::atomic<int> wrong{0};
  std::atomic<int> elsewhere{0};
  task_graph<int> g{rt};
  constexpr int tasks = 2000;
  g.indegree([](int) { return 1; })
      .place([](int i) { return static_cast<unsigned>(i) % 2; }, placement::must)
      .body([&](int i) {
        wrong += *worker_index() != static_cast<unsigned>(i) % 2;
        if (i == 1) {
          while (elsewhere != tasks / 2) std::this_thread::yield();
        }
        if (i % 2 == 0) ++elsewhere;
      });
  for (int i = 0; i < tasks; ++i) g.fulfill(i);
  g.wait();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace teff::test
