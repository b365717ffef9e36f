#include "teff/bench/workers.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "teff/bench/pinned_threads.hpp"

namespace teff::bench {
namespace {

TEST(workers, are_as_many_as_threads_that_run_at_the_same_time) {
  EXPECT_EQ(count_pinned_threads(1), 1);
  EXPECT_EQ(count_pinned_threads(3), 3);
}

TEST(workers, are_one_if_a_thread_runs_one_task_after_another) {
  roll_call all(2, std::chrono::milliseconds(0));
  for (int task = 0; task < 2; ++task) all.answer();
  EXPECT_EQ(all.count(), 1);
}

}  // namespace
}  // namespace teff::bench
