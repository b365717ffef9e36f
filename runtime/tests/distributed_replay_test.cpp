// Replays over ranks, over loopback, where ranks share memory, and over a simulated network.
#include <teff/distributed_graph.hpp>
#include <teff/distributed_replay.hpp>
#include <teff/loopback.hpp>
#include <teff/message.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <latch>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "ranks.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

using key = std::array<int, 2>;

// ---- Bodies ----

template <class Body>
concept is_a_body_of_ranks = requires(distributed_replay<key>& g, Body& body) { g.replay(1, body); };

// An argument that is const for a body is const for a generic body, too.
TEST(distributed_replay, takes_every_body_that_can_be_called_with_what_is_const) {
  loopback job(1);
  on_ranks(job, 1, [](transport& through, runtime& rt) {
    communicator comm(rt, through);
    distributed_replay<key> g(comm);
    g.add({2, 3}, sizeof(int), {});
    int sum = 0;
    const auto run = [&](auto body) {
      static_assert(is_a_body_of_ranks<decltype(body)> && is_a_body_of_ranks<const decltype(body)>);
      g.replay(2, body);
    };
    run([&](const key& k, const replayed_task&) { sum += k[0]; });
    run([&](key k, replayed_task) { sum += k[0]; });
    run([&](auto& k, auto& task) { sum += k[0] + 0 * static_cast<int>(task.iteration); });
    run([&](auto&& k, auto&& task) { sum += k[0] + 0 * static_cast<int>(task.iteration); });
    run([&](auto k, auto task) { sum += k[0] + 0 * static_cast<int>(task.iteration); });
    run([&](auto&... all) { sum += static_cast<int>(sizeof...(all)); });
    EXPECT_EQ(sum, 6 * 2 * 2);
  });
}

TEST(distributed_replay, refuses_a_body_that_wants_more_where_it_is_called) {
  static_assert(!is_a_body_of_ranks<void (*)(key&, const replayed_task&)>);
  static_assert(!is_a_body_of_ranks<void (*)(const key&, replayed_task&)>);
  static_assert(!is_a_body_of_ranks<void (*)(const key&, replayed_task&&)>);
  static_assert(!is_a_body_of_ranks<void (*)(const key&)>);
  static_assert(!is_a_body_of_ranks<void (*)(const key&, const replayed_task&, int)>);
  static_assert(is_a_body_of_ranks<void (*)(const key&, const replayed_task&)>);
}

// ---- Random graphs, whose tasks find in their inputs what they expect ----

// The same on all ranks. Of each task: where it runs, how much it makes, and what it reads.
class random_replay {
 public:
  random_replay(std::uint64_t seed, int ranks, unsigned workers) {
    std::mt19937_64 random(seed);
    layers_ = 1 + static_cast<int>(random() % 3);
    width_ = 1 + static_cast<int>(random() % 6);
    for (int layer = 0; layer < layers_; ++layer) {
      for (int at = 0; at < width_; ++at) {
        task made{.rank = static_cast<int>(random() % static_cast<unsigned>(ranks)),
                  .worker = static_cast<unsigned>(random() % workers),
                  .bytes = sizes[random() % std::size(sizes)],
                  .inputs = {}};
        for (int from_layer = 0; from_layer < layers_; ++from_layer) {
          for (int from = 0; from < width_; ++from) {
            if (random() % 4 != 0) continue;
            // Of an earlier layer, or an earlier iteration.
            const unsigned least = from_layer < layer ? 0 : 1;
            made.inputs.push_back({{from_layer, from}, least + static_cast<unsigned>(random() % 3)});
          }
        }
        tasks_.push_back(std::move(made));
      }
    }
  }

  void add_to(distributed_replay<key>& g, int rank) const {
    g.rank([this](key k) { return of(k).rank; });
    for (int layer = 0; layer < layers_; ++layer) {
      for (int at = 0; at < width_; ++at) {
        const auto& each = of({layer, at});
        if (each.rank == rank) g.add({layer, at}, each.bytes, each.inputs, each.worker);
      }
    }
  }
  // Returns whether the inputs are right; makes the output.
  [[nodiscard]] bool run(key k, const replayed_task& now) const {
    const auto& own = of(k);
    bool right = now.output.size() == own.bytes && now.inputs.size() == own.inputs.size();
    for (std::size_t i = 0; right && i < own.inputs.size(); ++i) {
      const auto& [from, before] = own.inputs[i];
      if (before > now.iteration) {
        right = now.inputs[i].empty();
        continue;
      }
      const auto expected = value(from, now.iteration - before);
      right = now.inputs[i].size() == of(from).bytes &&
              std::ranges::all_of(now.inputs[i], [&](std::byte each) { return each == expected; });
    }
    std::ranges::fill(now.output, value(k, now.iteration));
    return right;
  }
  [[nodiscard]] int tasks_of(int rank) const {
    return static_cast<int>(std::ranges::count(tasks_, rank, &task::rank));
  }

 private:
  static constexpr std::size_t sizes[] = {0, 1, 8, 100, 5000};
  struct task {
    int rank;
    unsigned worker;
    std::size_t bytes;
    std::vector<replay_input<key>> inputs;
  };
  [[nodiscard]] const task& of(key k) const { return tasks_[static_cast<std::size_t>(k[0] * width_ + k[1])]; }
  static std::byte value(key k, std::uint64_t iteration) {
    return static_cast<std::byte>(static_cast<std::uint64_t>(k[0]) * 31 +
                                  static_cast<std::uint64_t>(k[1]) * 7 + iteration * 13);
  }

  int layers_;
  int width_;
  std::vector<task> tasks_;
};

TEST(distributed_replay, each_task_of_random_graphs_finds_the_outputs_that_it_reads) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  for (std::uint64_t graph = 0; graph < (under_sanitizer ? 1U : 3U); ++graph) {
    on_jobs([&](transport& through, runtime& rt) {
      communicator comm(rt, through);
      const random_replay random(seed + graph, comm.ranks(), rt.workers());
      distributed_replay<key> g(comm);
      random.add_to(g, comm.rank());
      std::atomic<int> ran{0};
      std::atomic<int> wrong{0};
      std::uint64_t iterations = 0;
      for (const std::uint64_t times : {1U, 20U, 7U}) {
        g.replay(times, [&](key k, const replayed_task& task) {
          ++ran;
          if (!random.run(k, task)) ++wrong;
        });
        iterations += times;
      }
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(ran, random.tasks_of(comm.rank()) * static_cast<int>(iterations));
    });
  }
}

// ---- A ring of columns ----

// Each column adds its neighbours of the iteration before.
class ring_of_columns {
 public:
  static constexpr int width = 8;

  ring_of_columns(communicator& comm, unsigned workers) : rank_(comm.rank()), tasks(comm) {
    const auto owner = [ranks = comm.ranks()](int column) { return column * ranks / width; };
    tasks.rank(owner);
    for (int column = 0; column < width; ++column) {
      if (owner(column) != rank_) continue;
      tasks.add(column, sizeof(std::uint64_t),
                {{(column + width - 1) % width, 1}, {column, 1}, {(column + 1) % width, 1}},
                static_cast<unsigned>(column) % workers);
    }
  }
  static void step(int column, const replayed_task& task) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < 3; ++i)
      sum += task.iteration == 0 ? static_cast<std::uint64_t>(column) : task.input_as<std::uint64_t>(i)[0];
    task.output_as<std::uint64_t>()[0] = sum;
  }
  static std::array<std::uint64_t, width> after(int steps) {
    std::array<std::uint64_t, width> now{};
    for (int i = 0; i < width; ++i) now[at(i)] = 3 * static_cast<std::uint64_t>(i);
    for (int step = 1; step < steps; ++step) {
      const auto before = now;
      for (int i = 0; i < width; ++i)
        now[at(i)] = before[at((i + width - 1) % width)] + before[at(i)] + before[at((i + 1) % width)];
    }
    return now;
  }
  // Replays, and finds the last outputs.
  void expect(std::uint64_t times, int steps) {
    const auto expected = after(steps);
    std::atomic<int> wrong{0};
    tasks.replay(times, [&](int column, const replayed_task& task) {
      step(column, task);
      if (task.iteration + 1 == static_cast<std::uint64_t>(steps) &&
          task.output_as<std::uint64_t>()[0] != expected[at(column)])
        ++wrong;
    });
    EXPECT_EQ(wrong, 0);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int rank_;

 public:
  distributed_replay<int> tasks;
};

TEST(distributed_replay, replays_continue_where_the_one_before_has_ended) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    ring_of_columns columns(comm, rt.workers());
    columns.expect(1, 1);
    columns.expect(30, 31);
    columns.tasks.replay(0, ring_of_columns::step);
    columns.expect(2, 33);
  });
}

TEST(distributed_replay, ranks_that_sleep_at_once_are_woken) {
  for (const unsigned workers : {1U, 3U}) {
    loopback job(5);
    std::vector<std::thread> threads;
    for (int i = 0; i < job.ranks(); ++i) {
      threads.emplace_back([&, i] {
        runtime rt{{.workers = workers, .spin = std::chrono::microseconds{0}}};
        communicator comm(rt, job.rank(i));
        ring_of_columns columns(comm, workers);
        columns.expect(under_sanitizer ? 50 : 500, under_sanitizer ? 50 : 500);
      });
    }
    for (auto& each : threads) each.join();
  }
}

TEST(distributed_replay, two_replays_a_graph_and_messages_never_mix) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    ring_of_columns one(comm, rt.workers());
    ring_of_columns other(comm, rt.workers());
    distributed_graph<int> g(comm);
    std::atomic<int> came{0};
    g.rank([&](int k) { return k % comm.ranks(); }).indegree([](int) { return 1; }).body([&](int) {
      ++came;
    });
    one.expect(5, 5);
    g.fulfill((comm.rank() + 1) % comm.ranks());
    other.expect(7, 7);
    g.wait();
    EXPECT_EQ(came, 1);
    one.expect(3, 8);
  });
}

TEST(distributed_replay, a_step_allocates_nothing_where_ranks_share_memory) {
  loopback job(1);
  runtime rt{{.workers = 2}};
  communicator comm(rt, job.rank(0));
  ring_of_columns columns(comm, 2);
  columns.tasks.replay(2, ring_of_columns::step);
  const auto few = [&] {
    const auto before = allocations();
    columns.tasks.replay(10, ring_of_columns::step);
    return allocations() - before;
  };
  const auto of_ten = few();
  const auto before = allocations();
  columns.tasks.replay(1000, ring_of_columns::step);
  EXPECT_LT(allocations() - before, of_ten + 99);  // a part that begins late costs one, in either replay
}

// ---- What goes wrong ----

TEST(distributed_replay, a_body_that_throws_ends_it_on_all_ranks_which_are_told_rank_and_key) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    ring_of_columns columns(comm, rt.workers());
    const int bad = ring_of_columns::width - 1;  // on the last rank
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t at = round == 0 ? 5 : 15;  // ten were run after the failure before
      try {
        columns.tasks.replay(10000, [&](int column, const replayed_task& task) {
          if (column == bad && task.iteration == at) throw std::out_of_range("as asked");
          ring_of_columns::step(column, task);
          EXPECT_LT(task.iteration, at + ring_of_columns::width);  // nobody gets further without it
        });
        ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
      } catch (const std::out_of_range& e) {
        EXPECT_EQ(comm.rank(), comm.ranks() - 1);
        EXPECT_EQ(std::string(e.what()), "as asked");
      } catch (const rank_failed& e) {
        EXPECT_EQ(e.rank, comm.ranks() - 1);
        EXPECT_EQ(std::string(e.what()),
                  "teff: rank " + std::to_string(e.rank) + ": task " + std::to_string(bad) + ": as asked");
      }
      columns.expect(10, 10);  // from the beginning
    }
  });
}

TEST(distributed_replay, an_output_that_nobody_makes_is_named) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    distributed_replay<key> g(comm);
    g.rank([&](key k) { return k[0]; });
    g.add({comm.rank(), 0}, 8, {{{0, 7}, 1}});
    try {
      g.plan();
      ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
    } catch (const misuse& e) {
      EXPECT_EQ(comm.rank(), 0);
      EXPECT_NE(std::string(e.what()).find("(0, 7), which was not added on rank 0"), std::string::npos)
          << e.what();
    } catch (const rank_failed& e) {
      EXPECT_EQ(e.rank, 0);
    }
  });
}

// Each rank has two tasks, of which the second waits for the first; that reads what the second of the next
// rank makes in the same iteration.
TEST(distributed_replay, tasks_that_wait_for_each_other_in_one_iteration_are_named) {
  loopback job(3);
  on_ranks(job, 2, [](transport& through, runtime& rt) {
    communicator comm(rt, through);
    const int ranks = comm.ranks();
    for (const unsigned before : {1U, 0U}) {
      distributed_replay<key> g(comm);
      g.rank([](key k) { return k[0]; });
      g.add({comm.rank(), 0}, 8, {{{(comm.rank() + 1) % ranks, 1}, before}}, 0);
      g.add({comm.rank(), 1}, 8, {}, comm.rank() == 0 ? 1 : 0);
      g.add({comm.rank(), 2}, 8, {{{comm.rank(), 0}, 0}}, comm.rank() == 0 ? 1 : 0);
      g.plan();
    }
    distributed_replay<key> g(comm);
    g.rank([](key k) { return k[0]; });
    g.add({comm.rank(), 0}, 8, {{{(comm.rank() + 1) % ranks, 1}, 0}}, 0);
    g.add({comm.rank(), 1}, 8, {{{comm.rank(), 0}, 0}}, 0);
    try {
      g.plan();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const misuse& error) {
      const std::string text = error.what();
      const auto rank = std::to_string(comm.rank());
      EXPECT_NE(text.find("wait for each other"), std::string::npos) << text;
      EXPECT_NE(text.find("task (" + rank + ", 0) (rank " + rank + ", worker 0, place 0) (1 of 2)"),
                std::string::npos)
          << text;
    }
    EXPECT_THROW(g.replay(1, [](key, const replayed_task&) {}), misuse);
  });
}

// Rank 0 reads the values of rank 1, and so on. If two ranks ran different numbers of iterations, the rank
// with more would wait for ever.
TEST(distributed_replay, that_is_to_run_unequally_often_is_refused_and_names_who_differs) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    if (comm.ranks() == 1) return;
    for (const bool is_ring : {true, false}) {
      distributed_replay<int> g(comm);
      g.rank([](int rank) { return rank; });
      std::vector<replay_input<int>> reads;
      if (is_ring) reads.push_back({(comm.rank() + 1) % comm.ranks(), 1});
      g.add(comm.rank(), 8, reads);
      const auto nothing = [](int, const replayed_task&) {};
      for (const int odd : {0, comm.ranks() - 1}) {
        for (const std::uint64_t times : {0U, 3U, 200U}) {
          SCOPED_TRACE(testing::Message() << "rank " << odd << " runs " << times);
          g.replay(5, nothing);
          try {
            g.replay(comm.rank() == odd ? times : 50, nothing);
            ADD_FAILURE() << "nothing was thrown";
          } catch (const std::exception& error) {
            const std::string text = error.what();
            for (const auto& words :
                 {"rank " + std::to_string(odd), std::to_string(times), std::string(" 50")})
              EXPECT_NE(text.find(words), std::string::npos) << text;
          }
        }
      }
      g.replay(5, nothing);
    }
  });
}

TEST(distributed_replay, that_one_rank_has_destroyed_fails_on_the_others) {
  for (int round = 0; round < (under_sanitizer ? 2 : 5); ++round) {
    on_jobs([&](transport& through, runtime& rt) {
      communicator comm(rt, through);
      const int leaver = round;
      // Before it is planned, between two replays, after one has failed.
      for (const int done : {0, 1, 2}) {
        if (comm.ranks() == 1 || leaver >= comm.ranks()) return;
        ring_of_columns columns(comm, rt.workers());
        if (done > 0) columns.expect(10, 10);
        if (done > 1) {
          EXPECT_ANY_THROW(
              columns.tasks.replay(10, [](int, const replayed_task&) { throw misuse("as asked"); }));
        }
        if (comm.rank() == leaver) continue;
        for (int call = 0; call < 2; ++call) {
          try {
            columns.tasks.replay(1000, ring_of_columns::step);
            ADD_FAILURE() << "nothing was thrown";
          } catch (const rank_failed& error) {
            EXPECT_EQ(error.rank, leaver);
            EXPECT_NE(std::string(error.what()).find("teff::distributed_replay: destroyed"),
                      std::string::npos)
                << error.what();
          } catch (const misuse&) {
            EXPECT_EQ(done, 0);  // planning has failed
            EXPECT_EQ(call, 1);
          }
        }
      }
    });
  }
}

// Rank 0 keeps its replay until the other ranks have ended: it must not be the destructor that ends them.
TEST(distributed_replay, a_rank_without_memory_for_its_outputs_fails_the_plan_of_all_ranks) {
  simulated job(3, fresh_seed());
  std::latch ended(job.ranks());
  on_ranks(job, 2, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    distributed_replay<int> g(comm);
    g.rank([](int rank) { return rank; });
    g.add(comm.rank(), comm.rank() == 0 ? std::size_t{1} << 60 : 8, {{(comm.rank() + 1) % comm.ranks(), 1}});
    if (comm.rank() == 0) {
      EXPECT_THROW(g.plan(), std::bad_alloc);
    } else {
      EXPECT_THROW(g.plan(), rank_failed);
    }
    EXPECT_THROW(g.replay(1, [](int, const replayed_task&) {}), misuse);
    ended.arrive_and_wait();
  });
}

TEST(distributed_replay, tasks_without_a_worker_are_spread_over_the_workers) {
  loopback job(1);
  runtime rt{{.workers = 3}};
  communicator comm(rt, job.rank(0));
  distributed_replay<int> g(comm);
  g.add(100, 8, {}, 1);
  for (int i = 0; i < 8; ++i) g.add(i, 8, {});
  std::array<std::atomic<int>, 3> ran{};
  g.replay(1, [&](int, const replayed_task&) { ++ran[*worker_index()]; });
  for (const auto& each : ran) EXPECT_EQ(each, 3);
}

TEST(distributed_replay, what_can_not_be_planned_is_refused) {
  loopback job(1);
  runtime rt{{.workers = 2}};
  communicator comm(rt, job.rank(0));
  {
    distributed_replay<int> g(comm);
    g.add(1, 8, {});
    EXPECT_THROW(g.add(1, 8, {}), misuse);
    EXPECT_EQ(text_of<misuse>([&] { g.add(2, 8, {}, 2); }),
              "teff::distributed_replay::add: worker 2, and the workers are 0 to 1: give one of these, or "
              "teff::anywhere");
    g.plan();
    EXPECT_THROW(g.add(3, 8, {}), misuse);
  }
  {
    distributed_replay<int> g(comm);
    g.add(1, 8, {{2, 0}}, 0);
    g.add(2, 8, {}, 0);
    EXPECT_EQ(text_of<misuse>([&] { g.plan(); }),
              "teff::distributed_replay: task 1 (rank 0, worker 0, place 0) reads the output of task 2 (rank "
              "0, worker 0, place 1), which its worker makes later");
  }
  {
    distributed_replay<int> g(comm);
    g.rank([](int) { return 3; });
    g.add(1, 8, {{1, 1}});
    EXPECT_EQ(text_of<misuse>([&] { g.plan(); }),
              "teff::distributed_replay: rank() of the key 1 is 3, and the ranks are 0 to 0");
  }
}

}  // namespace
}  // namespace teff::test
