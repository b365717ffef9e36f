// The lock-free pieces of a task graph on their interleavings: a message arrives once and whole, a key that
// several workers count becomes ready once, a ready task is taken once, and no message is left to a sleeper.
#include <gtest/gtest.h>
#include <teff/detail/key_chains.hpp>
#include <teff/detail/message_ring.hpp>
#include <teff/detail/ready_deque.hpp>

#include "interleavings.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::plain;

void expect_no_fault(const checker::outcome& outcome) {
  EXPECT_EQ(outcome.fault, "");
  EXPECT_TRUE(outcome.complete) << "stopped after " << outcome.runs << " interleavings";
  EXPECT_GT(outcome.runs, 100U);
  std::cout << outcome.runs << " interleavings\n";
}

// An atomic whose stores release nothing: the fault that the tests of faults seed.
template <class T>
struct careless_atomic : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  void store(T value, std::memory_order) { checked::atomic<T>::store(value, std::memory_order_relaxed); }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) {
    return checked::atomic<T>::compare_exchange_strong(expected, desired, std::memory_order_relaxed);
  }
};

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
      preemptions, 3'000'000);
}

TEST(message_ring_model, messages_arrive_whole_and_once_also_where_the_ring_is_full) {
  expect_no_fault(check_ring<checked::atomic>(3, 2));
}

TEST(message_ring_model, finds_a_flag_that_does_not_release_its_message) {
  EXPECT_NE(check_ring<careless_atomic>(1, 3).fault, "");
}

// ---- Keys without a place ----

struct counted_node {
  counted_node* next = nullptr;
  int received = 0;
  int needed = 0;
  int key = 0;
  plain touched;  // written by whoever holds the chain
  [[nodiscard]] bool same_key(const counted_node& other) {
    touched.write(1);
    return key == other.key;
  }
};

// Threads that each fulfil a few keys of one bucket; a key needs as many as there are in all.
template <template <class> class Atomic>
checker::outcome check_chains(std::vector<std::vector<int>> fulfilled, int preemptions) {
  struct world {
    detail::key_chains<counted_node, Atomic> chains{1};
    std::deque<counted_node> nodes;
    std::vector<int> ready = std::vector<int>(3);
  };
  const auto needed = [fulfilled](int key) {
    int count = 0;
    for (const auto& thread : fulfilled) count += static_cast<int>(std::ranges::count(thread, key));
    return count;
  };
  return checker::check(
      [=]() -> checker::program {
        auto shared = std::make_shared<world>();
        checker::program program;
        for (const auto& keys : fulfilled) {
          program.emplace_back([=] {
            for (const int key : keys) {
              auto left = shared->chains.fulfill(
                  0,
                  [key](counted_node& each) {
                    each.touched.write(1);
                    return each.key == key;
                  },
                  [&] {
                    auto& made = shared->nodes.emplace_back();
                    made.received = 1;
                    made.needed = needed(key);
                    made.key = key;
                    made.touched.write(1);
                    return &made;
                  });
              for (auto* each = left.ready; each != nullptr; each = each->next) {
                each->touched.write(1);
                ++shared->ready[static_cast<std::size_t>(each->key)];
              }
            }
          });
        }
        program.emplace_back([=] {
          for (int key = 0; key < 3; ++key) {
            if (shared->ready[static_cast<std::size_t>(key)] != (needed(key) > 0 ? 1 : 0))
              checker::fail("a key was not ready exactly once");
          }
        });
        return program;
      },
      preemptions, 3'000'000);
}

TEST(key_chains_model, a_key_that_three_workers_count_is_ready_once) {
  expect_no_fault(check_chains<checked::atomic>({{0}, {0}, {0}}, 5));
}

TEST(key_chains_model, keys_of_one_bucket_don_t_get_in_each_others_way) {
  expect_no_fault(check_chains<checked::atomic>({{0, 1}, {1, 0}, {2, 1}}, 3));
  expect_no_fault(check_chains<checked::atomic>({{0, 1, 0}, {1, 0, 2}}, 5));
}

TEST(key_chains_model, finds_a_chain_that_is_put_back_without_release) {
  EXPECT_NE(check_chains<careless_atomic>({{0}, {0}}, 3).fault, "");
}

// ---- Ready tasks ----

template <template <class> class Atomic>
checker::outcome check_deque(int thieves, int preemptions) {
  struct world {
    detail::ready_deque<plain, Atomic> tasks{1};
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
      preemptions, 3'000'000);
}

TEST(ready_deque_model, every_task_is_taken_or_stolen_once_also_while_the_deque_grows) {
  expect_no_fault(check_deque<checked::atomic>(1, 3));
  expect_no_fault(check_deque<checked::atomic>(2, 2));
}

TEST(ready_deque_model, finds_an_owner_that_takes_without_a_fence) {
  EXPECT_NE(check_deque<careless_atomic>(1, 4).fault, "");
}

// ---- A message to a worker that goes to sleep ----

// The seat, the message and the fence of worker_loop.cpp's park() and published_to().
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
