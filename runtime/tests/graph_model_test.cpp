// The lock-free pieces of a task graph on their interleavings. A message arrives once and whole. A key that
// several workers count becomes ready once. A ready task is taken once. No worker sleeps while a message for
// it is there.
#include <gtest/gtest.h>
#include <teff/detail/graph/dense_counters.hpp>
#include <teff/detail/graph/message_queue.hpp>
#include <teff/detail/graph/numbered_tasks.hpp>
#include <teff/detail/ready/ready_deque.hpp>

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

// The writer never waits. If the reader is slow, the writer's third letter lies in a second ring, and the
// reader deletes the first one. Else it lies in the first ring again.
template <template <class> class Atomic>
checker::outcome check_queue(int letters, int preemptions) {
  struct world {
    detail::message_queue<letter, 2, Atomic> queue;
    int received = 0;
    checked::atomic<int> sent{0};
  };
  return checker::check(
      [letters]() -> checker::program {
        auto shared = std::make_shared<world>();
        return {[shared, letters] {
                  for (int i = 0; i < letters; ++i) {
                    letter next;
                    next.content.write(i);
                    shared->queue.make_room();
                    shared->queue.send(next);
                    shared->sent.store(i + 1, std::memory_order_relaxed);
                  }
                },
                [shared, letters] {
                  for (letter next; shared->received < letters;) {
                    if (shared->queue.receive(next)) {
                      if (next.content.read() != shared->received++) checker::fail("not in order");
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

TEST(message_queue_model, messages_arrive_whole_and_once_through_rings_that_follow_each_other) {
  expect_no_fault(check_queue<checked::atomic>(5, 2));
}

TEST(message_queue_model, finds_a_lap_that_does_not_release_its_message) {
  EXPECT_NE(check_queue<checked::without_release>(1, 3).fault, "");
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
