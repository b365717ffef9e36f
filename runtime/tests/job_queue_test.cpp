// The queue of what comes from outside, and the lock that guards it.
#include "scheduler/job_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

using detail::job;
using detail::job_queue;

// A job with the thread that pushed it, its number among the jobs of that thread, and how often it was taken.
struct numbered : job {
  std::size_t by = 0;
  std::size_t number = 0;
  int taken = 0;
};

TEST(job_queue, has_what_came_first_first) {
  std::array<numbered, 3> jobs;
  job_queue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_EQ(queue.oldest(), nullptr);
  for (auto& each : jobs) EXPECT_EQ(queue.push(each), &each == &jobs[0]);
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.oldest(), &jobs[0]);
  EXPECT_EQ(queue.pop(), &jobs[0]);
  EXPECT_FALSE(queue.withdraw(jobs[0])) << "taken before";
  EXPECT_EQ(queue.pop_and_see_next(), &jobs[2]);
  EXPECT_EQ(queue.pop_and_see_next(), nullptr);
  EXPECT_TRUE(queue.empty());
  queue.push(jobs[1]);
  EXPECT_EQ(queue.pop(), &jobs[1]) << "after it has been empty";
}

TEST(job_queue, gives_back_whatever_is_withdrawn) {
  std::array<numbered, 4> jobs;
  for (const std::size_t withdrawn : {0, 1, 2, 3}) {
    job_queue queue;
    for (auto& each : jobs) queue.push(each);
    EXPECT_TRUE(queue.withdraw(jobs[withdrawn]));
    EXPECT_FALSE(queue.withdraw(jobs[withdrawn]));
    EXPECT_EQ(queue.size(), 3U);
    queue.push(jobs[withdrawn]);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (i == withdrawn) continue;
      EXPECT_EQ(queue.pop(), &jobs[i]);
    }
    EXPECT_EQ(queue.pop(), &jobs[withdrawn]);
    EXPECT_TRUE(queue.empty());
  }
}

// `taken` is no atomic: of two that took the same job, ThreadSanitizer would see both.
TEST(job_queue, gives_each_job_to_one_of_many_threads_and_those_of_a_thread_in_order) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t each_pushes = 5000;
  const auto jobs = std::make_unique<std::array<std::array<numbered, each_pushes>, threads>>();
  job_queue queue;
  std::atomic<std::size_t> left{threads * each_pushes};
  std::atomic<bool> in_order{true};
  std::vector<std::thread> all;
  for (std::size_t by = 0; by < threads; ++by) {
    all.emplace_back([&, by] {
      for (std::size_t i = 0; i < each_pushes; ++i) {
        auto& mine = (*jobs)[by][i];
        mine.by = by;
        mine.number = i;
        queue.push(mine);
      }
    });
    all.emplace_back([&] {
      std::array<std::size_t, threads> next{};
      while (left.load() != 0) {
        auto* const got = static_cast<numbered*>(queue.pop());
        if (got == nullptr) {
          std::this_thread::yield();
          continue;
        }
        if (got->number < next[got->by]) in_order = false;
        next[got->by] = got->number + 1;
        ++got->taken;
        left.fetch_sub(1);
      }
    });
  }
  for (auto& each : all) each.join();
  EXPECT_TRUE(in_order);
  EXPECT_TRUE(queue.empty());
  for (const auto& of_one : *jobs) {
    for (const auto& each : of_one) ASSERT_EQ(each.taken, 1);
  }
}

}  // namespace
}  // namespace teff::test
