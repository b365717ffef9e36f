// The lock-free pieces of a task graph on their interleavings. A message arrives once and whole. A key that
// several workers count becomes ready once. A ready task is taken once. No worker sleeps while a message for
// it is there.
#include <gtest/gtest.h>
#include <teff/detail/graph/dense_counters.hpp>
#include <teff/detail/graph/message_ring.hpp>
#include <teff/detail/graph/missing_predecessors.hpp>
#include <teff/detail/ready/ready_deque.hpp>

#include "graph/key_chains.hpp"
#include "interleavings.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::plain;

// ---- Messages ----

// A message whose copying the checker watches.
struct letter {
  plain content;
  letter() = default;
  explicit letter(int number) { content.write(number); }
  letter(letter& other) { content.write(other.content.read()); }
  letter& operator=(const letter& other) {
    content.write(const_cast<letter&>(other).content.read());
    return *this;
  }
};

template <template <class> class Atomic>
checker::outcome check_ring(int letters, int preemptions) {
  struct world {
    detail::message_ring<letter, 2, Atomic> ring;
    int received = 0;
    checked::atomic<int> sent{0};
    checked::atomic<int> got{0};
  };
  return checker::check(
      [letters]() -> checker::program {
        auto shared = std::make_shared<world>();
        return {[shared, letters] {
                  for (int i = 0; i < letters; ++i) {
                    letter next;
                    next.content.write(i);
                    while (!shared->ring.send(next)) {
                      checker::now().wait_until([shared, i] { return shared->got.peek() > i - 2; });
                    }
                    shared->sent.store(i + 1, std::memory_order_relaxed);
                  }
                },
                [shared, letters] {
                  for (letter next; shared->received < letters;) {
                    if (shared->ring.receive(next)) {
                      if (next.content.read() != shared->received++) checker::fail("not in order");
                      shared->got.store(shared->received, std::memory_order_relaxed);
                    } else {
                      checker::now().wait_until([shared] { return shared->sent.peek() > shared->received; });
                    }
                  }
                },
                [shared, letters] {
                  if (shared->received != letters) checker::fail("a message was lost");
                }};
      },
      preemptions, checked::most_interleavings);
}

TEST(message_ring_model, messages_arrive_whole_and_once_also_where_the_ring_is_full) {
  expect_no_fault(check_ring<checked::atomic>(3, 2));
}

TEST(message_ring_model, finds_a_flag_that_does_not_release_its_message) {
  EXPECT_NE(check_ring<checked::without_release>(1, 3).fault, "");
}

// ---- Keys without a place ----

template <template <class> class Atomic>
struct counted_node {
  counted_node* next = nullptr;
  counted_node* next_in_line = nullptr;
  std::size_t hash = 0;
  int received = 1;
  int needed = 0;
  bool ended = false;
  Atomic<bool> ran{false};
  int key = 0;
  bool spare = false;
  plain counting;  // written by the thread that holds the chain
  plain running;   // written by the thread that has the task
  [[nodiscard]] bool same_key(const counted_node& other) {
    counting.write(1);
    return key == other.key;
  }
};

// The keys of one bucket that threads fulfil, and the expected outcome. The bucket may be split meanwhile.
struct key_story {
  std::vector<std::vector<int>> fulfilled;  // The keys that each thread fulfils.
  std::vector<int> needed;                  // The fulfilments that each key needs.
  bool run_at_the_end = false;              // Whether ready tasks run only when all threads have ended.
  int within = -1;                          // A key that its first run fulfils.
  int afterwards = -1;                      // A key that its thread fulfils after its first run.
  std::vector<int> runs;                    // The expected runs of each key.
  std::vector<int> over;                    // How often each key must be found over-fulfilled.
  std::size_t grows_to = 1;                 // The most buckets. A second key in a chain adds more.
};

template <template <class> class Atomic>
struct key_world {
  using node = counted_node<Atomic>;
  using chains_of_keys = detail::key_chains<node, Atomic>;

  explicit key_world(const key_story& told) : story(told) {}

  void fulfill(int key, std::vector<node*>& line) {
    settle(chains.fulfill(
               static_cast<std::size_t>(key),
               [key](node& each) {
                 each.counting.write(1);
                 return each.key == key;
               },
               [&] {
                 auto& made = nodes.emplace_back();
                 made.needed = story.needed[static_cast<std::size_t>(key)];
                 made.key = key;
                 made.hash = static_cast<std::size_t>(key);
                 made.counting.write(1);
                 made.running.write(1);
                 return &made;
               },
               [this](node& each) { count_over(each); },
               [this](std::size_t buckets) { return buckets < story.grows_to; }),
           line);
  }
  void run(std::vector<node*>& line) {
    while (!line.empty()) {
      node& task = *line.back();
      line.pop_back();
      task.running.write(1);
      const int key = task.key;
      const bool first = runs[static_cast<std::size_t>(key)]++ == 0;
      if (first && key == story.within) fulfill(key, line);
      chains.forget(task);
      if (first && key == story.afterwards) fulfill(key, line);
    }
  }
  void check_the_end() {
    if (runs != story.runs) checker::fail("a key did not run as often as it should have");
    if (over != story.over) checker::fail("not every fulfilment too many was found, or one that was not");
    chains.clear([](node* each) {
      if (!each->ran.load(std::memory_order_relaxed)) checker::fail("a task that has not run is in a chain");
      if (std::exchange(each->spare, true)) checker::fail("a node is in a chain that was given back");
    });
    for (const auto& each : nodes) {
      if (!each.spare) checker::fail("a node was lost");
    }
  }

  const key_story& story;
  chains_of_keys chains{{.buckets = 1, .spread = 0, .long_chain = 1}};
  std::deque<node> nodes;
  std::vector<int> runs = std::vector<int>(story.needed.size());
  std::vector<int> over = std::vector<int>(story.needed.size());
  std::vector<node*> left;

 private:
  void count_over(node& task) {
    task.counting.write(1);
    ++over[static_cast<std::size_t>(task.key)];
  }
  static void settle(typename chains_of_keys::outcome outcome, std::vector<node*>& line) {
    for (auto* each = outcome.spare; each != nullptr; each = each->next) {
      each->counting.write(1);
      each->running.write(1);
      if (std::exchange(each->spare, true)) checker::fail("a node was given back twice");
    }
    for (auto* each = outcome.ready; each != nullptr; each = each->next_in_line) {
      each->running.write(1);
      line.push_back(each);
    }
  }
};

template <template <class> class Atomic>
checker::outcome check_chains(const key_story& story, int preemptions) {
  return checker::check(
      [&]() -> checker::program {
        auto shared = std::make_shared<key_world<Atomic>>(story);
        checker::program program;
        for (const auto& keys : story.fulfilled) {
          program.emplace_back([&story, &keys, shared] {
            std::vector<counted_node<Atomic>*> line;
            for (const int key : keys) {
              shared->fulfill(key, line);
              if (!story.run_at_the_end) shared->run(line);
            }
            shared->left.insert(shared->left.end(), line.begin(), line.end());
          });
        }
        program.emplace_back([shared] {
          shared->run(shared->left);
          shared->check_the_end();
        });
        return program;
      },
      preemptions, checked::most_interleavings);
}

TEST(key_chains_model, a_key_that_three_workers_count_is_ready_once) {
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0}, {0}, {0}}, .needed = {3}, .runs = {1}, .over = {0}}, 4));
}

TEST(key_chains_model, keys_of_one_bucket_don_t_get_in_each_others_way) {
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0, 1}, {1, 0}, {2, 1}}, .needed = {2, 3, 1}, .runs = {1, 1, 1}, .over = {0, 0, 0}}, 2));
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0, 1, 0}, {1, 0, 2}}, .needed = {3, 2, 1}, .runs = {1, 1, 1}, .over = {0, 0, 0}}, 4));
}

TEST(key_chains_model, every_fulfilment_too_many_is_found_until_the_task_has_run) {
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0, 0}, {0}}, .needed = {1}, .run_at_the_end = true, .runs = {1}, .over = {2}}, 6));
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0}, {0, 0}, {0}}, .needed = {2}, .run_at_the_end = true, .runs = {1}, .over = {2}}, 3));
}

TEST(key_chains_model, a_key_that_its_own_run_fulfils_is_found_whichever_thread_holds_the_chain) {
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0}, {1}}, .needed = {1, 1}, .within = 0, .runs = {1, 1}, .over = {1, 0}}, 5));
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0}, {1}, {0, 1}}, .needed = {2, 2}, .within = 0, .runs = {1, 1}, .over = {1, 0}}, 3));
}

TEST(key_chains_model, a_key_that_is_fulfilled_after_its_run_runs_again_whichever_thread_holds_the_chain) {
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0}, {1}}, .needed = {1, 1}, .afterwards = 0, .runs = {2, 1}, .over = {0, 0}}, 5));
  expect_no_fault(check_chains<checked::atomic>({.fulfilled = {{0}, {1, 2}, {2, 1}},
                                                 .needed = {1, 2, 2},
                                                 .afterwards = 0,
                                                 .runs = {2, 1, 1},
                                                 .over = {0, 0, 0}},
                                                2));
}

TEST(key_chains_model, keys_are_counted_while_their_bucket_is_split) {
  expect_no_fault(check_chains<checked::atomic>(
      {.fulfilled = {{0, 1}, {1, 0}}, .needed = {2, 2}, .runs = {1, 1}, .over = {0, 0}, .grows_to = 4}, 4));
  expect_no_fault(check_chains<checked::atomic>({.fulfilled = {{0, 1}, {1, 2}, {2, 0}},
                                                 .needed = {2, 2, 2},
                                                 .runs = {1, 1, 1},
                                                 .over = {0, 0, 0},
                                                 .grows_to = 4},
                                                2));
  // Twice, and with keys that stay together after the first split.
  expect_no_fault(check_chains<checked::atomic>({.fulfilled = {{0, 4, 8}, {8, 0, 4}},
                                                 .needed = std::vector<int>(9, 2),
                                                 .run_at_the_end = true,
                                                 .runs = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                                 .over = std::vector<int>(9),
                                                 .grows_to = 16},
                                                2));
}

TEST(key_chains_model, a_key_of_a_bucket_that_is_split_is_found_until_its_task_has_run) {
  expect_no_fault(check_chains<checked::atomic>({.fulfilled = {{0, 1}, {0, 1}},
                                                 .needed = {1, 2},
                                                 .run_at_the_end = true,
                                                 .runs = {1, 1},
                                                 .over = {1, 0},
                                                 .grows_to = 4},
                                                4));
  expect_no_fault(check_chains<checked::atomic>({.fulfilled = {{0, 1}, {2, 1}},
                                                 .needed = {1, 2, 1},
                                                 .afterwards = 0,
                                                 .runs = {2, 1, 1},
                                                 .over = {0, 0, 0},
                                                 .grows_to = 4},
                                                4));
}

TEST(key_chains_model, finds_a_bucket_that_is_split_without_release) {
  EXPECT_NE(
      check_chains<checked::without_release>(
          {.fulfilled = {{0, 1}, {1, 0}}, .needed = {2, 2}, .runs = {1, 1}, .over = {0, 0}, .grows_to = 4}, 4)
          .fault,
      "");
}

TEST(key_chains_model, finds_a_chain_that_is_put_back_without_release) {
  EXPECT_NE(check_chains<checked::without_release>(
                {.fulfilled = {{0}, {0}}, .needed = {2}, .runs = {1}, .over = {0}}, 3)
                .fault,
            "");
}

// ---- Counters of numbered keys ----

// Each thread writes its own datum and then fulfils key 0. If no fulfilment is too many, the thread that
// makes the key ready reads all data.
template <template <class> class Atomic>
checker::outcome check_counters(int threads, int needed, int preemptions) {
  using counters = detail::dense_counters<Atomic>;
  struct world {
    explicit world(int threads) : written(static_cast<std::size_t>(threads)) {}
    counters counted{1};
    std::deque<plain> written;
    checked::atomic<int> ready{0};
    checked::atomic<int> over{0};
  };
  return checker::check(
      [=]() -> checker::program {
        auto shared = std::make_shared<world>(threads);
        checker::program program;
        for (int i = 0; i < threads; ++i) {
          program.emplace_back([=] {
            shared->written[static_cast<std::size_t>(i)].write(1);
            const auto now = shared->counted.count(0, [=] { return needed; }, false);
            if (now == counters::outcome::over) shared->over.fetch_add(1, std::memory_order_relaxed);
            if (now != counters::outcome::ready && now != counters::outcome::ready_at_once) return;
            shared->ready.fetch_add(1, std::memory_order_relaxed);
            if (threads > needed) return;
            for (plain& each : shared->written) static_cast<void>(each.read());
          });
        }
        program.emplace_back([=] {
          if (shared->ready.load(std::memory_order_relaxed) != 1) checker::fail("a key was not ready once");
          if (shared->over.load(std::memory_order_relaxed) != threads - needed)
            checker::fail("not every fulfilment too many was found, or one that was not");
        });
        return program;
      },
      preemptions, checked::most_interleavings);
}

// An atomic whose read-modify-writes release nothing: a fault that the tests put in.
template <class T>
struct unreleased_atomic : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  T fetch_sub(T less, std::memory_order) {
    return checked::atomic<T>::fetch_sub(less, std::memory_order_relaxed);
  }
};

TEST(dense_counters_model, a_key_is_ready_once_after_all_its_fulfilments) {
  expect_no_fault(check_counters<checked::atomic>(3, 3, 4));
  expect_no_fault(check_counters<checked::atomic>(2, 2, 8), 10);
}

TEST(dense_counters_model, one_fulfilment_too_many_is_found) {
  expect_no_fault(check_counters<checked::atomic>(3, 2, 4));
  expect_no_fault(check_counters<checked::atomic>(2, 1, 8), 20);
}

TEST(dense_counters_model, finds_a_count_that_releases_nothing) {
  EXPECT_NE(check_counters<unreleased_atomic>(3, 3, 3).fault, "");
}

// ---- Counters of a graph that is known beforehand ----

// Each thread writes its own datum and then releases the task. The thread that makes the task ready reads all
// data.
template <template <class> class Atomic>
checker::outcome check_releases(int threads, int preemptions, bool shares = true) {
  struct world {
    world(int threads, bool shares) : written(static_cast<std::size_t>(threads)) {
      static_cast<void>(missing.begin(0, threads));
      if (shares) missing.share();
    }
    detail::missing_predecessors<int, Atomic> missing{1};
    std::deque<plain> written;
    checked::atomic<int> ready{0};
  };
  return checker::check(
      [=]() -> checker::program {
        auto shared = std::make_shared<world>(threads, shares);
        checker::program program;
        for (int i = 0; i < threads; ++i) {
          program.emplace_back([=] {
            shared->written[static_cast<std::size_t>(i)].write(1);
            if (!shared->missing.releases()(0)) return;
            shared->ready.fetch_add(1, std::memory_order_relaxed);
            for (plain& each : shared->written) static_cast<void>(each.read());
          });
        }
        program.emplace_back([=] {
          if (shared->ready.load(std::memory_order_relaxed) != 1)
            checker::fail("the task was not ready once");
          if (shared->missing.waits(0)) checker::fail("the task is said to wait, though it was ready");
        });
        return program;
      },
      preemptions, checked::most_interleavings);
}

TEST(missing_predecessors_model, a_task_is_ready_once_after_all_its_predecessors) {
  expect_no_fault(check_releases<checked::atomic>(1, 8), 1);
  expect_no_fault(check_releases<checked::atomic>(2, 8), 4);
  expect_no_fault(check_releases<checked::atomic>(3, 6));
}

TEST(missing_predecessors_model, finds_a_count_that_releases_nothing) {
  EXPECT_NE(check_releases<unreleased_atomic>(2, 4).fault, "");
}

TEST(missing_predecessors_model, finds_two_threads_that_count_as_if_alone) {
  EXPECT_NE(check_releases<checked::atomic>(2, 4, false).fault, "");
}

// ---- Ready tasks ----

template <template <class> class Atomic>
checker::outcome check_deque(int thieves, int preemptions) {
  struct world {
    detail::ready_deque<plain, Atomic, 1> tasks;
    plain contents[3];
    std::vector<int> ran = std::vector<int>(3);
    void run(plain* task) {
      if (task != nullptr) ++ran[static_cast<std::size_t>(task->read())];
    }
  };
  return checker::check(
      [=]() -> checker::program {
        auto shared = std::make_shared<world>();
        checker::program program;
        program.emplace_back([shared] {
          const auto push = [&](int i) {
            shared->contents[i].write(i);
            shared->tasks.push(&shared->contents[i]);
          };
          push(0);
          push(1);  // grows
          shared->run(shared->tasks.take());
          push(2);
          shared->run(shared->tasks.take());
          shared->run(shared->tasks.take());
        });
        for (int i = 0; i < thieves; ++i)
          program.emplace_back([shared] { shared->run(shared->tasks.steal()); });
        program.emplace_back([shared] {
          while (plain* const left = shared->tasks.steal()) shared->run(left);
          if (shared->ran != std::vector<int>{1, 1, 1}) checker::fail("a task did not run exactly once");
        });
        return program;
      },
      preemptions, checked::most_interleavings);
}

TEST(ready_deque_model, every_task_is_taken_or_stolen_once_also_while_the_deque_grows) {
  expect_no_fault(check_deque<checked::atomic>(1, 3));
  expect_no_fault(check_deque<checked::atomic>(2, 2));
}

TEST(ready_deque_model, finds_an_owner_that_takes_without_a_fence) {
  EXPECT_NE(check_deque<checked::without_release>(1, 4).fault, "");
}

// ---- A message to a worker that goes to sleep ----

// The sleeper, the message and the fence of worker_park.cpp's park() and published_to().
checker::outcome check_sleeper(const std::function<void()>& barrier) {
  struct world {
    checked::atomic<int> message{0};
    checked::atomic<int> asleep{0};
    bool woken = false;
    bool found = false;
  };
  return checker::check(
      [barrier]() -> checker::program {
        auto shared = std::make_shared<world>();
        return {[shared] {
                  shared->message.store(1, std::memory_order_release);
                  if (shared->asleep.load(std::memory_order_seq_cst) != 0) shared->woken = true;
                },
                [shared, barrier] {
                  shared->asleep.store(1, std::memory_order_seq_cst);
                  barrier();
                  shared->found = shared->message.load(std::memory_order_acquire) != 0;
                },
                [shared] {
                  if (!shared->woken && !shared->found) checker::fail("a message was left to a sleeper");
                }};
      },
      5, 1'000'000);
}

TEST(message_model, a_worker_that_goes_to_sleep_sees_the_message_or_is_woken) {
  const auto outcome = check_sleeper(checked::barrier_everywhere);
  EXPECT_EQ(outcome.fault, "");
  EXPECT_TRUE(outcome.complete);
}

TEST(message_model, finds_a_sleeper_without_its_barrier) {
  EXPECT_NE(check_sleeper([] {}).fault, "");
}

}  // namespace
}  // namespace teff::test
