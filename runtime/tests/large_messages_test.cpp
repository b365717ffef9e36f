// Large messages on workers, over loopback and over a simulated network.
#include <teff/loopback.hpp>
#include <teff/message.hpp>
#include <teff/scope.hpp>
#include <teff/simulated.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace teff::test {
namespace {

TEST(large_messages, land_where_the_receiver_says_and_leave_the_data_to_the_sender) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const auto ranks = static_cast<std::size_t>(comm.ranks());
    constexpr std::size_t width = 1000;
    std::vector<int> matrix(ranks * width);  // one row from each rank
    std::atomic<int> rows{0};
    std::atomic<int> reused{0};
    const auto row = comm.on_large(
        [&](int from, const std::string& word, std::size_t n) -> std::span<int> {
          EXPECT_EQ(word, "row");
          return std::span(matrix).subspan(static_cast<std::size_t>(from) * width, n);
        },
        [&](int from, std::string_view word, std::span<int> x) {
          EXPECT_EQ(word, "row");
          EXPECT_EQ(x.data(), &matrix[static_cast<std::size_t>(from) * width]);
          ++rows;
        });
    std::vector<std::vector<int>> data(ranks, std::vector<int>(width));
    for (auto& each : data) std::iota(each.begin(), each.end(), comm.rank());
    comm.run([&] {
      for (std::size_t to = 0; to < ranks; ++to) {
        row.send(static_cast<int>(to), comm.rank(), "row", data[to], [&, to] {
          std::ranges::fill(data[to], -1);
          ++reused;
        });
      }
    });
    EXPECT_EQ(rows, comm.ranks());
    EXPECT_EQ(reused, comm.ranks());
    for (std::size_t i = 0; i < matrix.size(); ++i)
      EXPECT_EQ(matrix[i], static_cast<int>(i % width + i / width)) << i;
  });
}

// A block goes around: each rank sends on the block that has landed there. The last rank, which begins, sends
// once more when it may use its data again.
TEST(large_messages, may_be_sent_from_handlers_and_when_data_may_be_used_again) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const int last = comm.ranks() - 1;
    std::deque<std::vector<double>> blocks;
    std::mutex mutex;
    std::atomic<int> came{0};
    std::optional<large_message<double, int>> block;
    block = comm.on_large(
        [&](int, std::size_t n) -> std::span<double> {
          const std::lock_guard lock(mutex);
          return blocks.emplace_back(n);
        },
        [&](int turns, std::span<double> x) {
          EXPECT_EQ(std::ranges::count(x, 1.5), std::ssize(x));
          ++came;
          if (turns != 0) block->send((comm.rank() + 1) % comm.ranks(), turns - 1, x);
        });
    const std::vector<double> data(500, 1.5);
    constexpr int turns = 10;
    comm.run([&] {
      if (comm.rank() != last) return;
      block->send(0, turns * comm.ranks() - 1, data, [&] { block->send(0, 0, data); });
    });
    EXPECT_EQ(came, comm.rank() == 0 ? turns + 1 : turns);
  });
}

TEST(large_messages, of_which_many_wait_at_once_land_a_few_at_a_time_and_nothing_deadlocks) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through, {.window = 512});
    constexpr int count = 60;
    std::atomic<int> landed{0};  // messages that have landed and not arrived
    std::atomic<int> most{0};
    std::atomic<int> came{0};
    std::mutex mutex;
    std::deque<std::vector<int>> places;
    const auto block = comm.on_large(
        [&](std::size_t n) -> std::span<int> {
          const int now = ++landed;
          const std::lock_guard lock(mutex);
          most = std::max(most.load(), now);
          return places.emplace_back(n);
        },
        [&](std::span<int> x) {
          EXPECT_TRUE(std::ranges::all_of(x, [](int each) { return each == 7; }));
          --landed;
          ++came;
        });
    const auto small = comm.on([](const std::vector<int>&) {});
    const std::vector<int> data(300, 7);
    comm.run([&] {
      scope tasks;
      for (int to = 0; to < comm.ranks(); ++to) {
        tasks.spawn([&, to] {
          for (int i = 0; i < count; ++i) {
            block.send(to, std::span(data).first(static_cast<std::size_t>(i)));
            small.send(to, std::vector<int>(20));
          }
        });
      }
    });
    EXPECT_EQ(came, count * comm.ranks());
    // So many are expected at one time, and each worker may read or handle one more.
    EXPECT_LE(most, 4 + 3);
  });
}

TEST(large_messages, into_memory_of_another_size_fail_by_name_on_all_ranks) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::vector<int> place(10);
    const auto block = comm.on_large([&](std::size_t) { return std::span(place); },
                                     [](std::span<int>) { ADD_FAILURE() << "arrived"; });
    const std::vector<int> data(11);
    try {
      comm.run([&] { block.send(0, data); });
      ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
    } catch (const wrong_landing& e) {
      EXPECT_EQ(comm.rank(), 0);
      EXPECT_EQ(std::string(e.what()), "teff: large data of 11 elements were to land in memory for 10");
    } catch (const rank_failed& e) {
      EXPECT_NE(comm.rank(), 0);
      EXPECT_EQ(e.rank, 0);
    }
    comm.run([] {});
  });
}

TEST(large_messages, whose_functions_throw_end_the_run_on_all_ranks_and_the_next_one_is_as_any_other) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const int bad = comm.ranks() - 1;
    enum class where { landing, arriving, reusing, nowhere };
    auto throws = where::nowhere;  // changes between runs
    std::mutex mutex;
    std::deque<std::vector<int>> places;
    std::atomic<int> came{0};
    const auto at = [&](where here) {
      if (throws == here && comm.rank() == bad) throw std::out_of_range("as asked");
    };
    const auto block = comm.on_large(
        [&](std::size_t n) -> std::span<int> {
          at(where::landing);
          const std::lock_guard lock(mutex);
          return places.emplace_back(n);
        },
        [&](std::span<int>) {
          at(where::arriving);
          ++came;
        });
    const std::vector<int> data(100);
    for (const auto here : {where::landing, where::arriving, where::reusing}) {
      throws = here;
      try {
        comm.run([&] {
          for (int i = 0; i < 20; ++i)
            block.send((comm.rank() + 1) % comm.ranks(), data, [&] { at(where::reusing); });
        });
        ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
      } catch (const std::out_of_range&) {
        EXPECT_EQ(comm.rank(), bad);
      } catch (const rank_failed& e) {
        EXPECT_EQ(e.rank, bad);
      }
      throws = where::nowhere;
      came = 0;
      comm.run([&] { block.send((comm.rank() + 1) % comm.ranks(), data); });
      EXPECT_EQ(came, 1);
    }
  });
}

TEST(large_messages, sent_before_run_land_within_it) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<bool> running{false};
    int came = 0;
    std::vector<int> place(5);
    const auto block = comm.on_large(
        [&](std::size_t n) {
          EXPECT_TRUE(running);
          return std::span(place).first(n);
        },
        [&](std::span<int> x) { came = x[4]; });
    const std::vector<int> data{1, 2, 3, 4, 5};
    block.send((comm.rank() + 1) % comm.ranks(), data);
    running = true;
    comm.run([] {});
    EXPECT_EQ(came, 5);
  });
}

}  // namespace
}  // namespace teff::test
