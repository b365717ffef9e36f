// Task graphs over ranks, over loopback and over a simulated network.
#include <teff/distributed_graph.hpp>
#include <teff/loopback.hpp>
#include <teff/message.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ranks.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

using key = std::array<int, 2>;

// Sums over neighbours, step by step; the columns are dealt out to the ranks.
class summing_stencil {
 public:
  static constexpr int width = 7;
  static constexpr int steps = 12;

  static std::vector<long> in_order() {
    std::vector<long> row(width, 1);
    for (int step = 1; step < steps; ++step) {
      auto next = row;
      for (int i = 0; i < width; ++i) {
        next[at(i)] = row[at(i)];
        if (i > 0) next[at(i)] += row[at(i - 1)];
        if (i + 1 < width) next[at(i)] += row[at(i + 1)];
      }
      row = next;
    }
    return row;
  }

  explicit summing_stencil(communicator& comm) : comm_(comm), sums_(width * steps) {}

  void set_up(distributed_graph<key, std::span<const long>>& g) {
    g.rank([this](key k) { return k[1] % comm_.ranks(); })
        .indegree([](key k) { return k[0] == 0                        ? 1
                                     : k[1] == 0 || k[1] == width - 1 ? 2
                                                                      : 3; })
        .arrived([this](key k, std::span<const long> values) {
          ASSERT_EQ(values.size(), 1U);
          sums_[at(k[0] * width + k[1])] += values[0];
        })
        .body([this, &g](key k) {
          const std::array<long, 1> mine{sums_[at(k[0] * width + k[1])].exchange(0)};
          ++ran_;
          if (k[0] + 1 == steps) {
            last_[at(k[1])] = mine[0];
            return;
          }
          for (int i = std::max(0, k[1] - 1); i <= std::min(width - 1, k[1] + 1); ++i)
            g.fulfill({k[0] + 1, i}, mine);
        });
  }
  void start(distributed_graph<key, std::span<const long>>& g) {
    const std::array<long, 1> one{1};
    for (int i = comm_.rank(); i < width; i += comm_.ranks()) g.fulfill({0, i}, one);
  }
  void expect_right() {
    const auto expected = in_order();
    for (int i = comm_.rank(); i < width; i += comm_.ranks())
      EXPECT_EQ(last_[at(i)], expected[at(i)]) << "column " << i;
    int columns = 0;
    for (int i = comm_.rank(); i < width; i += comm_.ranks()) ++columns;
    EXPECT_EQ(ran_.exchange(0), steps * columns);
    last_.fill(0);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  communicator& comm_;
  std::vector<std::atomic<long>> sums_;
  std::array<long, width> last_{};
  std::atomic<int> ran_{0};
};

template <class F>
concept hears_of_keys = requires(distributed_graph<key, int>& g, F& f) { g.arrived(f); };
template <class F>
concept is_a_body_of_keys = requires(distributed_graph<key, int>& g, F& f) { g.body(f); };

TEST(distributed_graph, takes_functions_that_can_be_called_with_what_is_const_and_say_yes_no_or_nothing) {
  const auto generic = [](auto&... all) { return sizeof...(all) == 2; };
  static_assert(hears_of_keys<decltype(generic)> && is_a_body_of_keys<decltype(generic)>);
  static_assert(hears_of_keys<void (*)(const key&, int)> && hears_of_keys<std::optional<int> (*)(key, int)>);
  static_assert(!hears_of_keys<std::string (*)(key, int)>);
  static_assert(!hears_of_keys<bool (*)(key&, int)> && !hears_of_keys<bool (*)(key, int&)>);
  static_assert(is_a_body_of_keys<int (*)(key)> && !is_a_body_of_keys<void (*)(key&)> &&
                !is_a_body_of_keys<void (*)(key, int)>);
  loopback job(1);
  on_ranks(job, 1, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> ran{0};
    distributed_graph<key, int> g{comm};
    g.indegree([](auto&) { return 1; }).arrived(generic).body([&](auto&) { ++ran; });
    g.fulfill({1, 2}, 3);
    g.wait();
    EXPECT_EQ(ran, 1);
  });
}

TEST(distributed_graph, runs_each_task_on_its_rank_with_the_data_that_were_sent) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    summing_stencil stencil(comm);
    distributed_graph<key, std::span<const long>> g(comm);
    stencil.set_up(g);
    for (int round = 0; round < 3; ++round) {
      stencil.start(g);
      g.wait();
      stencil.expect_right();
    }
  });
}

TEST(distributed_graph, two_graphs_and_a_communicator_at_once_never_mix) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    summing_stencil a(comm);
    summing_stencil b(comm);
    distributed_graph<key, std::span<const long>> first(comm);
    distributed_graph<key, std::span<const long>> second(comm);
    a.set_up(first);
    b.set_up(second);
    std::atomic<int> came{0};
    const auto each = comm.on([&] { ++came; });
    comm.run([&] {
      a.start(first);
      b.start(second);
      each.send((comm.rank() + 1) % comm.ranks());
    });
    EXPECT_EQ(came, 1);
    first.wait();
    a.expect_right();
    second.wait();
    b.expect_right();
  });
}

TEST(distributed_graph, any_rank_may_fulfil_any_key) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> ran{0};
    distributed_graph<int> g(comm);
    g.rank([&](int k) { return k % comm.ranks(); })
        .indegree([&](int) { return comm.ranks(); })
        .body([&](int k) {
          EXPECT_EQ(k % comm.ranks(), comm.rank());
          ++ran;
        });
    constexpr int keys = 100;
    for (int k = 0; k < keys; ++k) g.fulfill(k);
    g.wait();
    int mine = 0;
    for (int k = comm.rank(); k < keys; k += comm.ranks()) ++mine;
    EXPECT_EQ(ran, mine);
  });
}

TEST(distributed_graph, a_body_that_throws_ends_the_graph_on_all_ranks_which_are_told_rank_and_key) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    distributed_graph<key> g(comm);
    const int bad = comm.ranks() - 1;
    bool sound = false;
    g.rank([&](key k) { return k[0] % comm.ranks(); }).indegree([](key) { return 1; }).body([&](key k) {
      if (k[0] == bad && !sound) throw std::out_of_range("as asked");
      if (k[0] < 50) g.fulfill({k[0] + 1, k[1]});
    });
    for (int round = 0; round < 2; ++round) {
      if (comm.rank() == 0) g.fulfill({0, 4});
      try {
        g.wait();
        ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
      } catch (const std::out_of_range& e) {
        EXPECT_EQ(comm.rank(), bad);
        EXPECT_EQ(std::string(e.what()), "as asked");
      } catch (const rank_failed& e) {
        EXPECT_NE(comm.rank(), bad);
        EXPECT_EQ(e.rank, bad);
        EXPECT_EQ(std::string(e.what()),
                  "teff: rank " + std::to_string(bad) + ": task (" + std::to_string(bad) + ", 4): as asked");
      }
    }
    sound = true;
    if (comm.rank() == 0) g.fulfill({0, 4});
    g.wait();
  });
}

TEST(distributed_graph, keys_that_nobody_satisfies_are_named_on_each_rank) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    distributed_graph<int> g(comm);
    g.rank([&](int k) { return k % comm.ranks(); }).indegree([](int) { return 2; }).body([](int) {
      ADD_FAILURE() << "ran";
    });
    // One key waits on the last rank, one on rank 0 (which may be the same).
    if (comm.rank() == 0) {
      g.fulfill(comm.ranks() - 1);
      g.fulfill(7 * comm.ranks());
    }
    try {
      g.wait();
      ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
    } catch (const never_satisfied& e) {
      EXPECT_EQ(e.count, 2U);
      const std::string what = e.what();
      if (comm.rank() == 0) {
        EXPECT_NE(what.find(std::to_string(7 * comm.ranks()) + " (1 of 2)"), std::string::npos) << what;
      }
      if (comm.rank() == comm.ranks() - 1) {
        EXPECT_NE(what.find(std::to_string(comm.ranks() - 1) + " (1 of 2)"), std::string::npos) << what;
      }
      EXPECT_NE(what.find("on rank " + std::to_string(comm.rank())), std::string::npos) << what;
    }
    g.wait();  // nothing is left of it
  });
}

TEST(distributed_graph, a_key_that_is_fulfilled_once_too_often_is_named) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    distributed_graph<int> g(comm);
    const int last = comm.ranks() - 1;
    std::atomic<bool> twice{false};
    g.rank([&](int) { return last; }).indegree([](int) { return 1; }).body([&](int k) {
      if (!twice.exchange(true)) g.fulfill(k);  // it runs already
    });
    if (comm.rank() == 0) g.fulfill(5);
    try {
      g.wait();
      ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
    } catch (const over_fulfilled&) {
      EXPECT_EQ(comm.rank(), last);
    } catch (const rank_failed& e) {
      EXPECT_NE(std::string(e.what()).find("the task 5 was fulfilled more often"), std::string::npos)
          << e.what();
    }
  });
}

TEST(distributed_graph, a_rank_that_leaves_without_wait_ends_it_for_those_that_wait) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const int leaver = comm.ranks() - 1;
    for (const bool fulfils : {false, true}) {
      distributed_graph<int> g(comm);
      g.rank([&](int k) { return k % comm.ranks(); }).indegree([](int) { return 1; }).body([](int) {});
      if (comm.rank() != leaver || fulfils) g.fulfill(comm.rank());
      if (comm.rank() == leaver) continue;
      for (int round = 0; round < 2; ++round) {
        try {
          g.wait();
          ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
        } catch (const rank_failed& e) {
          EXPECT_EQ(e.rank, leaver);
          EXPECT_EQ(std::string(e.what()), "teff: rank " + std::to_string(leaver) +
                                               ": teff::distributed_graph: destroyed on this rank, while "
                                               "others use it");
        }
      }
    }
    distributed_graph<int> unused(comm);
  });
}

TEST(distributed_graph, a_message_of_the_graph_that_needs_no_task_is_not_counted) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    constexpr int each = 20;
    std::atomic<int> ran{0};
    // Key (rank, -1) says to a rank that all its tasks may run.
    distributed_graph<key, int> g(comm);
    g.rank([](key k) { return k[0]; })
        .indegree([](key) { return 1; })
        .arrived([&](key k, int tasks) {
          if (k[1] >= 0) return true;
          for (int i = 0; i < tasks; ++i) g.fulfill({comm.rank(), i}, 0);
          return false;
        })
        .body([&](key) { ++ran; });
    g.fulfill({(comm.rank() + 1) % comm.ranks(), -1}, each);
    g.wait();
    EXPECT_EQ(ran, each);
  });
}

TEST(distributed_graph, a_rank_that_is_not_there_is_named_with_its_key) {
  loopback job(1);
  runtime rt{{.workers = 2}};
  communicator comm(rt, job.rank(0));
  distributed_graph<int> g(comm);
  g.rank([](int k) { return k; }).indegree([](int) { return 1; }).body([](int) {});
  try {
    g.fulfill(3);
    ADD_FAILURE() << "nothing thrown";
  } catch (const misuse& e) {
    EXPECT_EQ(std::string(e.what()),
              "teff::distributed_graph: rank() of the key 3 is 3, and the ranks are 0 to 0");
  }
}

TEST(distributed_graph, start_runs_a_task_of_its_rank_that_depends_on_nothing_and_refuses_any_other) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> arrived{0}, ran{0};
    distributed_graph<int, int> g(comm);
    g.rank([&](int k) { return k % comm.ranks(); })
        .indegree([&](int k) { return k / comm.ranks(); })
        .arrived([&](int, int) { ++arrived; })
        .body([&](int) { ++ran; });
    g.start(comm.rank());
    EXPECT_EQ(text_of<misuse>([&] { g.start(comm.rank() + comm.ranks()); }),
              "teff::distributed_graph::start: the indegree of the key " +
                  std::to_string(comm.rank() + comm.ranks()) +
                  " is 1, and start() is for tasks of indegree 0: the tasks that it depends on fulfil it");
    const int next = (comm.rank() + 1) % comm.ranks();
    if (next != comm.rank()) {
      EXPECT_EQ(text_of<misuse>([&] { g.start(next); }),
                "teff::distributed_graph::start: the task " + std::to_string(next) + " runs on rank " +
                    std::to_string(next) + ", and this is rank " + std::to_string(comm.rank()) +
                    ": start it there");
    }
    g.wait();
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(arrived, 0);
  });
}

TEST(distributed_graph, ranks_that_do_not_agree_whose_a_key_is_are_told_so) {
  loopback job(2);
  on_ranks(job, 1, [](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> ran{0};
    distributed_graph<int> g(comm);
    // Rank 0 takes the key for rank 1's, and that one for rank 0's.
    g.rank([&](int) { return 1 - comm.rank(); }).indegree([](int) { return 1; }).body([&](int) { ++ran; });
    if (comm.rank() == 0) g.fulfill(3);
    try {
      g.wait();
      ADD_FAILURE() << "nothing thrown";
    } catch (const ranks_differ& e) {
      EXPECT_EQ(comm.rank(), 1);
      EXPECT_EQ(
          std::string(e.what()),
          "teff::distributed_graph: another rank's rank() of the key 3 is 1, and this rank's is 0; it must "
          "be the same on all ranks");
    } catch (const rank_failed& e) {
      EXPECT_EQ(comm.rank(), 0);
      EXPECT_EQ(e.rank, 1);
    }
    EXPECT_EQ(ran, 0);
  });
}

TEST(distributed_graph, a_task_that_waits_for_its_own_graph_is_refused) {
  loopback job(1);
  runtime rt{{.workers = 2}};
  communicator comm(rt, job.rank(0));
  distributed_graph<int> g(comm);
  g.indegree([](int) { return 1; }).body([&](int) { g.wait(); });
  g.fulfill(1);
  EXPECT_THROW(g.wait(), graph_waits_for_itself);
}

TEST(distributed_graph, that_a_body_waits_for_whose_task_waits_for_the_body_gets_an_error) {
  loopback job(1);
  runtime rt{{.workers = 2}};
  communicator comm(rt, job.rank(0));
  distributed_graph<int> g(comm);
  task_graph<int> outer{rt};
  std::atomic<bool> began{false};
  g.indegree([](int) { return 1; }).body([&](int) {
    began = true;
    outer.wait();
  });
  outer.indegree([](int) { return 1; }).body([&](int) {
    while (!began) std::this_thread::yield();
    g.wait();
  });
  g.fulfill(1);
  outer.fulfill(1);
  const auto throws = [](auto& graph) {
    try {
      graph.wait();
      return false;
    } catch (const graph_waits_for_itself&) {
      return true;
    }
  };
  // Either task's wait is refused. The other task's wait has that error, and then this thread's for the other
  // task's graph.
  const bool outer_throws = throws(outer);
  EXPECT_TRUE(throws(g) || outer_throws);
}

TEST(distributed_graph, counts_numbered_keys_of_each_rank_in_an_array) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    constexpr int length = 100;
    std::atomic<int> ran{0};
    distributed_graph<int> g(comm);
    g.rank([&](int k) { return k % comm.ranks(); })
        .dense(length)
        .indegree([](int k) { return k == 0 ? 1 : 2; })
        .body([&](int k) {
          ++ran;
          for (const int next : {k + 1, k + 1})
            if (next < length) g.fulfill(next);
        });
    if (comm.rank() == 0) g.fulfill(0);
    g.wait();
    EXPECT_EQ(ran, (length - comm.rank() + comm.ranks() - 1) / comm.ranks());
  });
}

// The second rank handles nothing before the first one waits for room, as it does with this small a window.
TEST(distributed_graph, keeps_to_the_window_of_its_communicator) {
  loopback job(2);
  std::atomic<bool> waited{false};
  on_ranks(job, 1, [&](transport& through, runtime& rt) {
    communicator comm(rt, through, {.window = 64});
    distributed_graph<int> g(comm);
    g.rank([](int) { return 1; })
        .indegree([](int) { return 1; })
        .arrived([&](int) { waited.wait(false); })
        .body([](int) {});
    if (comm.rank() == 0) {
      std::thread looks([&] {
        while (g.counters().waits == 0) std::this_thread::yield();
        waited = true;
        waited.notify_all();
      });
      rt.run([&] {
        for (int i = 0; i < 100; ++i) g.fulfill(i);
      });
      looks.join();
    }
    g.wait();
  });
}

TEST(distributed_graph, waits_for_a_task_whose_end_is_held) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    constexpr int length = 20;
    std::atomic<int> ended{0};
    std::mutex mutex;
    std::vector<std::thread> others;
    distributed_graph<int> g(comm);
    g.rank([&](int k) { return k % comm.ranks(); }).indegree([](int) { return 1; }).body([&](int k) {
      std::thread other([&, k, held = g.hold_end()]() mutable {
        ++ended;
        if (k + 1 < length) g.fulfill(k + 1);
        held.release();
      });
      const std::lock_guard lock(mutex);
      others.push_back(std::move(other));
    });
    if (comm.rank() == 0) g.fulfill(0);
    g.wait();
    EXPECT_EQ(ended, (length - comm.rank() + comm.ranks() - 1) / comm.ranks());
    for (auto& each : others) each.join();
  });
}

}  // namespace
}  // namespace teff::test
