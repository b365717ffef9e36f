#include "teff/bench/cores.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace teff::bench {
namespace {

TEST(cores, that_the_process_may_use_stay_as_many_for_a_thread_that_is_bound_to_one) {
  const int cores = usable_cores();
  int seen = 0;
  std::thread([&seen] {
    bind_to_core(1);
    seen = usable_cores();
  }).join();
  EXPECT_EQ(seen, cores);
}

}  // namespace
}  // namespace teff::bench
