// Large data of the keys of task graphs over ranks, over loopback and over a simulated network.
#include <teff/distributed_graph.hpp>
#include <teff/loopback.hpp>
#include <teff/message.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ranks.hpp"

namespace teff::test {
namespace {

using key = std::array<int, 2>;

// A ring of ranks: task (step, rank) takes the block that the task of the step before on the rank before has
// made, and adds to it.
class ring_of_blocks {
 public:
  static constexpr int steps = 9;
  static constexpr std::size_t size = 700;

  explicit ring_of_blocks(communicator& comm)
      : comm_(comm), graph_(comm), made_(steps, std::vector<long>(size)), came_(made_) {
    graph_.rank([](key k) { return k[1]; }).indegree([](key) { return 1; }).body([this](key k) { run(k); });
  }
  // Sets the large data by which tasks fulfil keys. The object must not move from now on.
  void fulfil_by(distributed_graph<key>::large_data<long, std::string> how) { send_.emplace(how); }

  distributed_graph<key>& graph() { return graph_; }
  std::span<long> place(key k) { return came_[at(k)]; }

  void start() {
    // Block 0 of each rank comes from the rank itself, and lies already where it is to land.
    std::iota(came_[0].begin(), came_[0].end(), comm_.rank());
    send_->fulfill({0, comm_.rank()}, "first", came_[0], [this] { ++reused; });
  }
  void expect_right() {
    EXPECT_EQ(ran, steps);
    EXPECT_EQ(reused, steps);
    for (std::size_t i = 0; i < size; ++i) {
      // Each step adds 1 to all elements. They began on the rank `steps - 1` before this one.
      const int ranks = comm_.ranks();
      const int first = ((comm_.rank() - (steps - 1)) % ranks + ranks) % ranks;
      EXPECT_EQ(made_[steps - 1][i], static_cast<long>(i) + first + steps) << i;
    }
  }

  std::atomic<int> reused{0};
  std::atomic<int> ran{0};

 private:
  static std::size_t at(key k) { return static_cast<std::size_t>(k[0]); }
  void run(key k) {
    auto& mine = made_[at(k)];
    std::ranges::transform(came_[at(k)], mine.begin(), [](long x) { return x + 1; });
    ++ran;
    if (k[0] + 1 == steps) return;
    send_->fulfill({k[0] + 1, (k[1] + 1) % comm_.ranks()}, "later", mine, [this, &mine] {
      std::ranges::fill(mine, -1);
      ++reused;
    });
  }

  communicator& comm_;
  distributed_graph<key> graph_;
  std::vector<std::vector<long>> made_;
  std::vector<std::vector<long>> came_;
  std::optional<distributed_graph<key>::large_data<long, std::string>> send_;
};

TEST(large_fulfilments, land_where_the_rank_of_the_key_says_before_its_task_runs) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    for (int round = 0; round < 2; ++round) {
      ring_of_blocks ring(comm);
      std::atomic<int> arrivals{0};
      ring.fulfil_by(ring.graph().on_large(
          [&](key k, const std::string& word, std::size_t n) -> std::span<long> {
            EXPECT_EQ(n, ring_of_blocks::size);
            EXPECT_EQ(word, k[0] == 0 ? "first" : "later");
            EXPECT_EQ(k[1], comm.rank());
            return ring.place(k);
          },
          [&](key k, std::string_view, std::span<long> x) {
            EXPECT_EQ(x.data(), ring.place(k).data());
            ++arrivals;
          }));
      ring.start();
      ring.graph().wait();
      ring.expect_right();
      EXPECT_EQ(arrivals, ring_of_blocks::steps);
      const auto sent = ring.graph().counters();
      EXPECT_EQ(sent.large, comm.ranks() == 1 ? 0U : ring_of_blocks::steps - 1U);
    }
  });
}

TEST(large_fulfilments, need_no_function_for_their_arrival) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    ring_of_blocks ring(comm);
    ring.fulfil_by(
        ring.graph().on_large([&](key k, const std::string&, std::size_t) { return ring.place(k); }));
    ring.start();
    ring.graph().wait();
    ring.expect_right();
  });
}

// One block tells a rank that its tasks may run, and counts for no task itself.
TEST(large_fulfilments, of_which_arrived_says_false_do_not_count) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    constexpr int tasks = 15;
    const std::vector<int> data(300, 3);
    std::vector<int> place(300);
    std::atomic<int> ran{0};
    distributed_graph<key> g(comm);
    g.rank([](key k) { return k[0]; }).indegree([](key) { return 1; }).body([&](key) {
      EXPECT_EQ(place, data);
      ++ran;
    });
    const auto block = g.on_large([&](key, std::size_t) { return std::span(place); },
                                  [&](key, std::span<int>) {
                                    for (int i = 0; i < tasks; ++i) g.fulfill({comm.rank(), i});
                                    return false;
                                  });
    block.fulfill({(comm.rank() + 1) % comm.ranks(), -1}, data);
    g.wait();
    EXPECT_EQ(ran, tasks);
  });
}

TEST(large_fulfilments, into_memory_of_another_size_fail_the_graph_by_name_and_key_on_all_ranks) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const std::vector<int> data(11);
    std::vector<int> place(10);
    distributed_graph<int> g(comm);
    g.indegree([](int) { return 1; }).body([](int) {});
    const auto block = g.on_large([&](int, std::size_t) { return std::span(place); },
                                  [](int, std::span<int>) { ADD_FAILURE() << "arrived"; });
    try {
      if (comm.rank() == comm.ranks() - 1) block.fulfill(8, data);
      g.wait();
      ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
    } catch (const wrong_landing& e) {
      EXPECT_EQ(comm.rank(), 0);
      EXPECT_EQ(std::string(e.what()), "teff: large data of 11 elements were to land in memory for 10");
    } catch (const rank_failed& e) {
      EXPECT_EQ(std::string(e.what()),
                "teff: rank 0: key 8: teff: large data of 11 elements were to land in memory for 10");
    }
    if (comm.ranks() > 1) g.wait();  // on one rank fulfill() has thrown, and the graph has not failed
  });
}

TEST(large_fulfilments, whose_functions_throw_end_the_graph_on_all_ranks_and_leave_the_data) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    if (comm.ranks() == 1) return;
    enum class where { landing, arriving, reusing, nowhere };
    auto throws = where::nowhere;  // changes between waits
    const int bad = comm.ranks() - 1;
    const auto at = [&](where here) {
      if (throws == here && comm.rank() == bad) throw std::out_of_range("as asked");
    };
    constexpr int each = 20;
    std::vector<int> data(100);
    std::vector<std::vector<int>> places(each, std::vector<int>(100));
    std::atomic<int> ran{0};
    distributed_graph<key> g(comm);
    g.rank([](key k) { return k[0]; }).indegree([](key) { return 1; }).body([&](key) { ++ran; });
    const auto block = g.on_large(
        [&](key k, std::size_t) {
          at(where::landing);
          return std::span(places[static_cast<std::size_t>(k[1])]);
        },
        [&](key, std::span<int>) { at(where::arriving); });
    const auto fulfil_all = [&] {
      for (int i = 0; i < each; ++i)
        block.fulfill({(comm.rank() + 1) % comm.ranks(), i}, data, [&] { at(where::reusing); });
    };
    for (const auto here : {where::landing, where::arriving, where::reusing}) {
      throws = here;
      try {
        fulfil_all();
        g.wait();
        ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
      } catch (const std::out_of_range&) {
        EXPECT_EQ(comm.rank(), bad);
      } catch (const rank_failed& e) {
        EXPECT_EQ(e.rank, bad);
      }
      std::ranges::fill(data, -1);  // no rank reads them any more
      throws = where::nowhere;
      ran = 0;
      fulfil_all();
      g.wait();
      EXPECT_EQ(ran, each);
    }
  });
}

TEST(large_fulfilments, are_registered_before_keys_are_fulfilled) {
  loopback job(1);
  runtime rt{{.workers = 2}};
  communicator comm(rt, job.rank(0));
  std::vector<int> place(1);
  distributed_graph<int> g(comm);
  g.indegree([](int) { return 2; }).body([](int) {});
  const auto land = [&](int, std::size_t) { return std::span(place); };
  g.fulfill(1);
  EXPECT_THROW(static_cast<void>(g.on_large(land)), misuse);
  g.fulfill(1);
  g.wait();
  static_cast<void>(g.on_large(land));
}

}  // namespace
}  // namespace teff::test
