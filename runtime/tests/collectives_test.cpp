// Broadcasts, reductions and barriers, over loopback and over a simulated network.
#include <gtest/gtest.h>
#include <teff/collectives.hpp>
#include <teff/scope.hpp>
#include <teff/task_graph.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace teff::test {
namespace {

TEST(collectives, form_a_tree_of_logarithmic_depth_from_any_root) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (int root = 0; root < ranks; root += 3) {
      std::vector<int> parents(static_cast<std::size_t>(ranks), -1);
      for (int rank = 0; rank < ranks; ++rank) {
        const detail::rank_tree tree(rank, ranks, root);
        EXPECT_EQ(tree.is_root(), rank == root);
        EXPECT_LE(tree.children(), std::bit_width(static_cast<unsigned>(ranks)));
        tree.each_child([&](int child) {
          EXPECT_EQ(parents.at(static_cast<std::size_t>(child)), -1) << "two parents";
          parents[static_cast<std::size_t>(child)] = rank;
          EXPECT_EQ(detail::rank_tree(child, ranks, root).parent(), rank);
        });
      }
      for (int rank = 0; rank < ranks; ++rank) {
        int depth = 0;
        for (int at = rank; at != root; ++depth) {
          at = parents[static_cast<std::size_t>(at)];
          ASSERT_NE(at, -1) << "rank " << rank << " of " << ranks << " hears nothing of rank " << root;
        }
        EXPECT_LE(depth, std::bit_width(static_cast<unsigned>(ranks - 1)));
      }
    }
  }
}

TEST(collectives, a_broadcast_calls_the_handler_once_on_each_rank_whoever_sends_it) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::mutex mutex;
    std::multiset<int> roots;
    const auto everyone =
        on_broadcast(comm, [&](int root, std::span<const int> values, const std::string& word) {
          EXPECT_EQ(std::ranges::count(values, root), 300);
          EXPECT_EQ(word, "hello");
          const std::lock_guard lock(mutex);
          roots.insert(root);
        });
    for (int phase = 0; phase < 3; ++phase) {
      comm.run([&] {
        for (int i = 0; i < 4; ++i) everyone.send(comm.rank(), std::vector<int>(300, comm.rank()), "hello");
      });
      for (int rank = 0; rank < comm.ranks(); ++rank) EXPECT_EQ(roots.count(rank), 4U);
      roots.clear();
    }
  });
}

TEST(collectives, a_reduction_combines_one_value_of_each_rank_in_each_round) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const int root = comm.ranks() / 2;
    constexpr std::uint64_t rounds = 20;
    std::mutex mutex;
    std::vector<std::vector<std::int64_t>> totals(rounds);
    const auto sum =
        on_reduction<std::int64_t>(comm, root, std::plus<>{}, [&](std::uint64_t round, std::int64_t total) {
          const std::lock_guard lock(mutex);
          totals.at(round).push_back(total);
        });
    for (int phase = 0; phase < 2; ++phase) {
      comm.run([&] {
        scope tasks;  // rounds are given in no order
        for (std::uint64_t round = 0; round < rounds; ++round)
          tasks.spawn([&, round] { sum.give(round, static_cast<std::int64_t>(round) * (comm.rank() + 1)); });
      });
      for (std::int64_t round = 0; auto& each : totals) {
        if (comm.rank() == root) {
          EXPECT_EQ(each, (std::vector{round * comm.ranks() * (comm.ranks() + 1) / 2}));
        } else {
          EXPECT_TRUE(each.empty());
        }
        each.clear();
        ++round;
      }
    }
  });
}

// The counts include all ranks: a rank that is past the barrier sees that all ranks have come to it.
template <class Job>
void pass_barriers(Job& job, unsigned workers) {
  std::array<std::atomic<int>, 5> come{};
  on_ranks(job, workers, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::optional<barrier> all;
    std::atomic<std::uint64_t> passed{0};
    all = on_barrier(comm, [&](std::uint64_t round) {
      EXPECT_EQ(come[round], comm.ranks());
      ++passed;
      if (round + 1 == come.size()) return;
      ++come[round + 1];
      all->arrive(round + 1);
    });
    comm.run([&] {
      ++come[0];
      all->arrive(0);
    });
    EXPECT_EQ(passed, come.size());
  });
}

TEST(collectives, nobody_is_past_a_barrier_before_all_have_come_to_it) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  for (const int ranks : {1, 2, 3, 7}) {
    for (const unsigned workers : {1U, 3U}) {
      loopback near(ranks);
      pass_barriers(near, workers);
      simulated far(ranks, seed);
      pass_barriers(far, workers);
    }
  }
}

TEST(collectives, tasks_of_a_graph_may_depend_on_a_reduction) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    constexpr int steps = 10;
    std::vector<std::int64_t> totals(steps);
    task_graph<int> g(rt);
    std::optional<communicator::held> unfinished;
    const auto next = on_broadcast(comm, [&](int step, std::int64_t total) {
      totals[static_cast<std::size_t>(step)] = total;
      g.fulfill(step);
    });
    const auto sum = on_reduction<std::int64_t>(
        comm, 0, std::plus<>{},
        [&](std::uint64_t step, std::int64_t total) { next.send(static_cast<int>(step) + 1, total); });
    g.indegree([](int) { return 1; }).body([&](int step) {
      if (step + 1 < steps) {
        sum.give(static_cast<std::uint64_t>(step), totals[static_cast<std::size_t>(step)] + 1);
      } else {
        unfinished.reset();
      }
    });
    comm.run([&] {
      unfinished.emplace(comm.hold());
      g.fulfill(0);
    });
    g.wait();
    for (std::int64_t step = 1, expected = 0; step < steps; ++step) {
      expected = (expected + 1) * comm.ranks();
      EXPECT_EQ(totals[static_cast<std::size_t>(step)], expected);
    }
  });
}

// The error of run() on a rank if give() gives the rank's values; empty if there is none.
template <class Give>
std::string said_of_rounds(communicator& comm, Give give) {
  try {
    comm.run(give);
    return {};
  } catch (const incomplete_round& e) {
    return std::to_string(e.count) + " " + e.what();
  }
}

TEST(collectives, a_round_that_is_not_complete_when_run_ends_is_an_error_on_all_ranks) {
  loopback job(5);
  std::array<std::string, 5> of_reduction;
  std::array<std::string, 5> of_barrier;
  on_ranks(job, 2, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> totals{0};
    const auto sum = on_reduction<int>(comm, 0, std::plus<>{}, [&](std::uint64_t, int) { ++totals; });
    const auto all = on_barrier(comm, [](std::uint64_t) {});
    const auto rank = comm.rank();
    const auto at = static_cast<std::size_t>(rank);
    // Round 7 lacks rank 3, which is below 2; round 8 lacks 0 and 4.
    of_reduction[at] = said_of_rounds(comm, [&] {
      sum.give(6, 1);
      if (rank != 3) sum.give(7, 1);
      if (rank != 0 && rank != 4) sum.give(8, 1);
    });
    of_barrier[at] = said_of_rounds(comm, [&] {
      for (std::uint64_t round = 0; round < 5 && rank == 0; ++round) all.arrive(round);
    });
    // The values of that run() are forgotten, and the round begins anew.
    EXPECT_EQ(said_of_rounds(comm, [&] { sum.give(7, 1); }), "");
    EXPECT_EQ(totals, rank == 0 ? 2 : 0);
  });
  const std::string name = "teff::rank_reduction (message 0): ";
  EXPECT_EQ(of_reduction[0], "3 " + name +
                                 "round 7 waits for rank 2 or ranks below it, round 8 waits for rank 0, rank "
                                 "4 (on rank 0; 1 on other ranks)");
  EXPECT_EQ(of_reduction[2], "3 " + name + "round 7 waits for rank 3 (on rank 2; 2 on other ranks)");
  for (const std::size_t other : {1U, 3U, 4U})
    EXPECT_EQ(of_reduction[other],
              "3 teff::communicator: no round waits here: other ranks say for whom theirs do (on rank " +
                  std::to_string(other) + "; 3 on other ranks)");
  const std::string waits = " waits for rank 1, rank 2 or ranks below it, rank 4";
  EXPECT_EQ(of_barrier[0], "5 teff::barrier (message 2): round 0" + waits + ", round 1" + waits +
                               ", round 2" + waits + ", and 2 more wait (on rank 0; 0 on other ranks)");
  EXPECT_EQ(of_barrier[4],
            "5 teff::communicator: no round waits here: other ranks say for whom theirs do (on rank 4; 5 on "
            "other ranks)");
}

TEST(collectives, a_failure_is_what_run_throws_where_rounds_wait_as_well) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const auto sum = on_reduction<int>(comm, 0, std::plus<>{}, [](std::uint64_t, int) {});
    const auto last = comm.ranks() - 1;
    try {
      comm.run([&] {
        if (comm.rank() == last) throw std::out_of_range("as asked");
        sum.give(1, 1);
      });
      ADD_FAILURE() << "nothing thrown";
    } catch (const std::out_of_range&) {
      EXPECT_EQ(comm.rank(), last);
    } catch (const rank_failed& e) {
      EXPECT_EQ(e.rank, last);
    }
    comm.run([] {});  // no round waits
  });
}

TEST(collectives, misuse_is_named) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    EXPECT_THROW(
        static_cast<void>(on_reduction<int>(comm, comm.ranks(), std::plus<>{}, [](std::uint64_t, int) {})),
        misuse);
    std::atomic<int> total{0};
    const auto sum =
        on_reduction<int>(comm, 0, std::plus<>{}, [&](std::uint64_t, int each) { total = each; });
    // The root keeps its value until all ranks have given a value. The last rank has passed its value on.
    for (const int bad : {0, comm.ranks() - 1}) {
      try {
        comm.run([&] {
          if (comm.rank() != bad) return;
          for (const std::uint64_t round : {5U, 1U, 2U, 4U, 3U, 1U}) sum.give(round, 1);
        });
        ADD_FAILURE() << "nothing thrown";
      } catch (const misuse& e) {
        EXPECT_EQ(comm.rank(), bad);
        EXPECT_EQ(std::string(e.what()), "teff::rank_reduction (message 0): rank " + std::to_string(bad) +
                                             " gives a second value in round 1");
      } catch (const rank_failed& e) {
        EXPECT_EQ(e.rank, bad);
      }
    }
    // The values of a run() that has ended are forgotten.
    comm.run([&] { sum.give(1, 2); });
    if (comm.rank() == 0) {
      EXPECT_EQ(total, 2 * comm.ranks());
    }
  });
}

}  // namespace
}  // namespace teff::test
