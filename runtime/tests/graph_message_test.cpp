// Task graphs whose tasks have places: messages between workers.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

// A key with a load, which == and the hash leave out.
struct carrier {
  int task;
  int load = 0;
  friend bool operator==(const carrier& a, const carrier& b) { return a.task == b.task; }
};
struct hash_of_carrier {
  std::size_t operator()(const carrier& k) const noexcept { return key_hash<int>{}(k.task); }
};

TEST(task_graph, what_a_key_carries_has_arrived_where_its_task_runs) {
  constexpr int tasks = under_sanitizer ? 2000 : 20'000;
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{{.workers = workers}};
    // Task i is fulfilled by task i - 1, which is on another worker if there are several, and by task i - 2.
    std::vector<int> brought(tasks + 2);  // by tasks on other workers
    std::atomic<int> wrong{0};
    const auto place = [=](int task) { return static_cast<unsigned>(task) % workers; };
    task_graph<carrier, hash_of_carrier> g{rt};
    g.indegree([](const carrier& k) { return k.task < 2 ? k.task : 2; })
        .place([=](const carrier& k) { return place(k.task); }, placement::must)
        .received([&](const carrier& k) {
          if (place(k.task) != *worker_index()) ++wrong;
          brought[static_cast<std::size_t>(k.task)] += k.load;
        })
        .body([&](const carrier& k) {
          int due = 0;
          for (int before = std::max(k.task - 2, 0); before < k.task; ++before)
            due += place(before) == place(k.task) ? 0 : before + 1;
          if (brought[static_cast<std::size_t>(k.task)] != due) ++wrong;
          for (int next = k.task + 1; next <= std::min(k.task + 2, tasks); ++next)
            g.fulfill({next, k.task + 1});
        });
    rt.run([&] {
      g.fulfill({0});
      g.wait();
    });
    EXPECT_EQ(wrong, 0) << workers << " workers";
  }
}

TEST(task_graph, one_message_that_does_not_count_stands_for_all_that_wait_for_a_task_on_a_worker) {
  static constexpr int steps = 300;
  static constexpr int width = 12;
  // Every task of a step waits for all tasks of the step before. A task tells each other worker by one key,
  // (-1 - step, worker).
  using key = std::array<int, 2>;
  on_runtimes([](runtime& rt) {
    const int workers = static_cast<int>(rt.workers());
    std::atomic<int> ran{0};
    std::atomic<int> messages{0};
    std::atomic<int> wrong{0};
    task_graph<key> g{rt};
    const auto fulfill_own = [&](int step, int worker) {
      for (int at = worker; at < width; at += workers) g.fulfill({step, at});
    };
    g.indegree([](key k) { return k[0] == 0 ? 0 : width; })
        .place([=](key k) { return static_cast<unsigned>(k[1] % workers); }, placement::must)
        .received([&](key k) {
          if (k[0] >= 0) return true;
          ++messages;
          if (k[1] != static_cast<int>(*worker_index())) ++wrong;
          fulfill_own(-k[0], k[1]);
          return false;
        })
        .body([&](key k) {
          ++ran;
          if (k[0] + 1 == steps) return;
          for (int worker = 0; worker < std::min(workers, width); ++worker) {
            if (worker == k[1] % workers) {
              fulfill_own(k[0] + 1, worker);
            } else {
              g.fulfill({-1 - k[0], worker});
            }
          }
        });
    for (int at = 0; at < width; ++at) g.fulfill({0, at});
    g.wait();
    EXPECT_EQ(ran, steps * width);
    EXPECT_EQ(messages, (steps - 1) * width * (std::min(workers, width) - 1));
    EXPECT_EQ(wrong, 0);
  });
}

TEST(task_graph, a_worker_that_always_has_a_ready_task_still_hears_from_others) {
  runtime rt{{.workers = 2}};
  bool asked = false;
  bool answered = false;
  task_graph<int> g{rt};
  // Tasks -1 and -2 follow each other on worker 0 until key 0 has come from worker 1.
  g.indegree([](int) { return 1; })
      .place([](int k) { return k > 0 ? 1U : 0U; }, placement::must)
      .received([&](int k) {
        if (k == 0) answered = true;
        return k != 0;
      })
      .body([&](int k) {
        if (k > 0) return g.fulfill(0);
        if (!answered) g.fulfill(k == -1 ? -2 : -1);
        if (!std::exchange(asked, true)) g.fulfill(1);
      });
  g.fulfill(-1);
  g.wait();
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace teff::test
