// Jobs of several ranks in this process, for tests of messages.
#pragma once

#include <gtest/gtest.h>
#include <teff/loopback.hpp>
#include <teff/runtime.hpp>
#include <teff/simulated.hpp>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {

// Calls rank(transport, runtime) for each rank, on one thread for each.
template <class Job, class Rank>
void on_ranks(Job& job, unsigned workers, Rank rank) {
  std::vector<std::thread> threads;
  for (int i = 0; i < job.ranks(); ++i) {
    threads.emplace_back([&, i] {
      runtime rt{{.workers = workers}};
      rank(job.rank(i), rt);
    });
  }
  for (auto& each : threads) each.join();
}

inline constexpr auto rank_counts = [] {
  if constexpr (under_sanitizer)
    return std::array{1, 3};
  else
    return std::array{1, 2, 3, 5};
}();

// Calls rank(transport, runtime) for the ranks of jobs on both networks, with several numbers of ranks and
// workers.
template <class Rank>
void on_jobs(Rank rank) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  for (const int ranks : rank_counts) {
    for (const unsigned workers : {1U, 3U}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << workers << " workers");
      loopback near(ranks);
      on_ranks(near, workers, rank);
      simulated far(ranks, seed);
      on_ranks(far, workers, rank);
    }
  }
}

}  // namespace teff::test
