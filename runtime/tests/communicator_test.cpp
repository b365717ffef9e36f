// Communicators on workers, over loopback and over a simulated network.
#include <teff/detail/message/rank_table.hpp>
#include <teff/loopback.hpp>
#include <teff/message.hpp>
#include <teff/simulated.hpp>

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "allocations.hpp"
#include "ranks.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

TEST(communicator, of_which_any_allocation_fails_throws_bad_alloc) {
  runtime rt{{.workers = 1}};
  loopback job(1);
  for (std::uint64_t which = 1;; ++which) {
    fail_allocation(which);
    try {
      const communicator comm(rt, job.rank(0));
      fail_allocation(0);
      EXPECT_GT(which, 10U);
      return;
    } catch (const std::bad_alloc&) {
      fail_allocation(0);
    }
  }
}

TEST(communicator, calls_handlers_with_the_arguments_that_were_sent) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> rows{0};
    std::atomic<double> total{0};
    std::atomic<int> words{0};
    const auto row = comm.on([&](int number, std::span<const double> values) {
      rows += number;
      total.fetch_add(std::accumulate(values.begin(), values.end(), 0.0));
    });
    const auto word = comm.on([&](std::string text, const std::vector<std::string>& more) {
      words += text == "hello" && more == std::vector<std::string>{"a", "b"} ? 1 : 0;
    });
    comm.run([&] {
      const std::vector<double> values{1, 2, 3};
      for (int to = 0; to < comm.ranks(); ++to) {
        row.send(to, comm.rank() + 1, values);
        word.send(to, "hello", {"a", "b"});
      }
    });
    EXPECT_EQ(rows, comm.ranks() * (comm.ranks() + 1) / 2);
    EXPECT_EQ(total, 6.0 * comm.ranks());
    EXPECT_EQ(words, comm.ranks());
  });
}

TEST(communicator, without_room_for_a_message_is_refused) {
  loopback job(1);
  runtime rt{{.workers = 1}};
  EXPECT_THROW((communicator{rt, job.rank(0), {.window = 0}}), invalid_option);
}

TEST(communicator, run_ends_when_all_that_handlers_send_has_been_handled) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<long> visits{0};
    std::optional<message<int, int>> hop;
    hop = comm.on([&](int left, int seed) {
      ++visits;
      if (left == 0) return;
      hop->send((comm.rank() + seed) % comm.ranks(), left - 1, seed);
      hop->send((comm.rank() + seed + 1) % comm.ranks(), left - 1, seed + 1);
    });
    std::atomic<long> reported{0};
    const auto report = comm.on([&](long part) { reported += part; });
    for (int phase = 1; phase <= 4; ++phase) {
      comm.run([&] { hop->send((comm.rank() + 1) % comm.ranks(), 5, comm.rank()); });
      // The next phase counts the results of the last one, from every rank.
      comm.run([&] { report.send(0, visits.exchange(0)); });
      if (comm.rank() == 0) {
        EXPECT_EQ(reported.exchange(0), 63L * comm.ranks()) << "phase " << phase;
      }
    }
  });
}

TEST(communicator, messages_of_two_communicators_and_of_two_phases_never_mix) {
  on_jobs([](transport& through, runtime& rt) {
    communicator first(rt, through);
    communicator second(rt, through);
    int phase = 0;  // changes between phases
    std::atomic<int> came{0};
    std::atomic<int> others{0};
    const auto of_first = first.on([&](int sent_in) {
      EXPECT_EQ(sent_in, phase);
      ++came;
    });
    const auto of_second = second.on([&](int) { ++others; });
    for (phase = 1; phase <= 20; ++phase) {
      first.run([&] {
        for (int to = 0; to < first.ranks(); ++to) of_first.send(to, phase);
      });
      EXPECT_EQ(came.exchange(0), first.ranks());
      EXPECT_EQ(others, 0);
    }
    second.run([&] { of_second.send((second.rank() + 1) % second.ranks(), 1); });
    EXPECT_EQ(others, 1);
  });
}

TEST(communicator, a_message_that_was_sent_before_run_is_handled_in_it) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> came{0};
    std::atomic<bool> running{false};
    const auto each = comm.on([&] {
      EXPECT_TRUE(running);
      ++came;
    });
    for (int to = 0; to < comm.ranks(); ++to) each.send(to);
    running = true;
    comm.run([] {});
    EXPECT_EQ(came, comm.ranks());
  });
}

TEST(communicator, ordered_messages_are_handled_one_at_a_time_in_the_order_of_their_sending) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::vector<int> next(
        static_cast<std::size_t>(comm.ranks()));  // needs no lock: one handler runs at a time
    std::atomic<int> inside{0};
    const auto each = comm.on(ordered, [&](int from, int number) {
      EXPECT_EQ(++inside, 1);
      EXPECT_EQ(next[static_cast<std::size_t>(from)]++, number);
      --inside;
    });
    const auto other = comm.on([](int) {});
    constexpr int count = 300;
    comm.run([&] {
      for (int i = 0; i < count; ++i) {
        for (int to = 0; to < comm.ranks(); ++to) {
          each.send(to, comm.rank(), i);
          other.send(to, i);
        }
      }
    });
    for (const int from : next) EXPECT_EQ(from, count);
  });
}

TEST(communicator, senders_that_outrun_the_receiver_wait_and_nothing_deadlocks) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through, {.window = 512});
    std::atomic<int> came{0};
    std::optional<message<int, std::vector<int>>> each;
    each = comm.on([&](int left, const std::vector<int>& load) {
      ++came;
      // All ranks flood each other, and answer.
      if (left != 0) each->send((comm.rank() + left) % comm.ranks(), left - 1, load);
    });
    constexpr int count = under_sanitizer ? 50 : 200;
    comm.run([&] {
      scope tasks;  // several workers send
      for (int part = 0; part < 4; ++part) {
        tasks.spawn([&, part] {
          for (int i = 0; i < count; ++i)
            each->send((comm.rank() + part) % comm.ranks(), 1, std::vector<int>(20, i));
        });
      }
    });
    std::atomic<int> total{0};
    const auto sum = comm.on([&](int part) { total += part; });
    comm.run([&] { sum.send(0, came.load()); });
    if (comm.rank() == 0) {
      EXPECT_EQ(total, 4 * count * 2 * comm.ranks());
    }
  });
}

TEST(communicator, threads_of_no_runtime_may_send) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through, {.window = 1024});
    std::atomic<int> came{0};
    const auto each = comm.on([&](int) { ++came; });
    comm.run([&] {
      std::vector<std::thread> threads;
      for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
          for (int i = 0; i < 300; ++i) each.send((comm.rank() + 1) % comm.ranks(), i);
        });
      }
      // The threads may wait for room. If there is no other worker, handlers on this worker make it.
      blocking([&] {
        for (auto& thread : threads) thread.join();
      });
    });
    EXPECT_EQ(came, 600);
  });
}

TEST(communicator, what_is_held_keeps_run_from_ending) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> came{0};
    const auto each = comm.on([&] { ++came; });
    const auto start = comm.on([&] {
      // The handler returns, and the job that it has submitted sends later.
      rt.submit([&, kept = std::make_shared<communicator::held>(comm.hold())] {
        for (int i = 0; i < 20; ++i) std::this_thread::yield();
        each.send((comm.rank() + 1) % comm.ranks());
      });
    });
    for (int phase = 0; phase < 5; ++phase) {
      comm.run([&] { start.send(comm.rank()); });
      EXPECT_EQ(came.exchange(0), 1);
    }
  });
}

TEST(communicator, an_exception_on_one_rank_arrives_on_all_and_the_next_run_is_as_any_other) {
  on_jobs([](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> came{0};
    const auto each = comm.on([&](int what) {
      if (what == 7) throw std::out_of_range("seven");
      ++came;
    });
    const int bad = comm.ranks() - 1;
    for (const bool in_handler : {true, false}) {
      try {
        comm.run([&] {
          if (in_handler && comm.rank() == 0) each.send(bad, 7);
          if (!in_handler && comm.rank() == bad) throw std::out_of_range("seven");
          for (int i = 0; i < 100; ++i) each.send(i % comm.ranks(), 0);
        });
        ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
      } catch (const std::out_of_range& e) {
        EXPECT_EQ(comm.rank(), bad);
        EXPECT_EQ(std::string(e.what()), "seven");
      } catch (const rank_failed& e) {
        EXPECT_NE(comm.rank(), bad);
        EXPECT_EQ(e.rank, bad);
        EXPECT_EQ(std::string(e.what()), "teff: rank " + std::to_string(bad) + ": seven");
      }
      came = 0;
      comm.run([&] { each.send((comm.rank() + 1) % comm.ranks(), 1); });
      EXPECT_EQ(came, 1);
    }
  });
}

TEST(communicator, ranks_that_registered_different_messages_are_named) {
  for (const int ranks : {2, 3, 5}) {
    loopback job(ranks);
    on_ranks(job, 2, [&](transport& through, runtime& rt) {
      communicator comm(rt, through);
      const bool odd = comm.rank() == ranks - 1;
      const auto first = comm.on([](int) { ADD_FAILURE() << "called"; });
      if (odd) {
        static_cast<void>(comm.on([](double) {}));
      } else {
        static_cast<void>(comm.on([](std::span<const double>) {}));
      }
      try {
        comm.run([&] {
          if (odd) first.send(0, 1);
        });
        ADD_FAILURE() << "nothing thrown on rank " << comm.rank();
      } catch (const std::exception& e) {
        const std::string what = e.what();
        EXPECT_NE(what.find("rank " + std::to_string(ranks - 1) + " have registered different messages"),
                  std::string::npos)
            << what;
        EXPECT_NE(what.find("1: (double)"), std::string::npos) << what;
        EXPECT_NE(what.find("1: (std::span<const double"), std::string::npos) << what;
      }
    });
  }
}

TEST(communicator, misuse_is_refused) {
  loopback job(1);
  runtime rt{{.workers = 2}};
  communicator comm(rt, job.rank(0), {.window = 256});
  const auto each = comm.on([](int) {});
  EXPECT_THROW(each.send(1, 1), misuse);
  EXPECT_THROW(each.send(-1, 1), misuse);
  comm.run([&] {
    EXPECT_THROW(static_cast<void>(comm.on([](int) {})), misuse);
    EXPECT_THROW(comm.run([] {}), misuse);
  });
  // No rank would make room.
  EXPECT_THROW(
      {
        for (int i = 0; i < 100; ++i) each.send(0, i);
      },
      misuse);
  EXPECT_THROW(loopback(0), misuse);
  EXPECT_THROW(simulated(0, 1), misuse);
}

// Rank 1 takes no message before rank 0 has sent all.
TEST(communicator, small_messages_travel_together_while_others_are_on_their_way) {
  loopback job(2);
  std::latch busy{2};  // rank 1's only worker runs a body that waits
  std::latch sent{1};
  on_ranks(job, 1, [&](transport& through, runtime& rt) {
    communicator comm(rt, through);
    std::atomic<int> came{0};
    const auto each = comm.on([&](int) { ++came; });
    constexpr int count = 20'000;
    comm.run([&] {
      busy.arrive_and_wait();
      if (comm.rank() == 1) return sent.wait();
      for (int i = 0; i < count; ++i) each.send(1, i);
      sent.count_down();
    });
    EXPECT_EQ(came, comm.rank() == 1 ? count : 0);
    const auto counted = comm.counters();
    EXPECT_EQ(counted.sent, comm.rank() == 0 ? count : 0);
    EXPECT_EQ(counted.handled, comm.rank() == 1 ? count : 0);
    EXPECT_LT(counted.packets, 100U);
    EXPECT_GE(counted.bytes, counted.sent * sizeof(int));
    EXPECT_EQ(counted.waits, 0U);
  });
}

TEST(communicator, counts_what_it_has_sent_since_it_was_made) {
  loopback job(2);
  on_ranks(job, 1, [](transport& through, runtime& rt) {
    communicator comm(rt, through, {.window = 512});
    std::vector<char> landed(1000);
    const auto each = comm.on([](const std::vector<int>&) {});
    const auto block = comm.on_large([&](std::size_t) { return std::span(landed); }, [](std::span<char>) {});
    const std::vector<char> data(1000);
    for (int round = 0; round < 2; ++round) {
      comm.run([&] {
        for (int i = 0; i < 20; ++i) each.send(1 - comm.rank(), std::vector<int>(30));
        if (comm.rank() == 0) block.send(1, data);
      });
    }
    const auto counted = comm.counters();
    EXPECT_GE(counted.sent, 40U);
    EXPECT_GE(counted.handled, 40U);
    EXPECT_GE(counted.bytes, 40 * 30 * sizeof(int));
    EXPECT_EQ(counted.large, comm.rank() == 0 ? 2U : 0U);
    EXPECT_EQ(counted.large_bytes, comm.rank() == 0 ? 2000U : 0U);
    EXPECT_GE(counted.waits, 1U) << "a window has room for four";
    EXPECT_EQ(counted.near.sent, counted.sent);
    EXPECT_EQ(counted.near.large_bytes, counted.large_bytes);
    EXPECT_EQ(counted.own.sent + counted.far.sent, 0U);
  });
}

// As if an exception had come between two calls on one rank: the other ranks wait in the second call.
TEST(communicator, that_one_rank_has_destroyed_fails_on_the_others) {
  on_jobs([](transport& through, runtime& rt) {
    for (int round = 0; round < 10; ++round) {
      communicator comm(rt, through);
      const auto message = comm.on([](int) {});
      comm.run([&] { message.send(0, 1); });
      const int leaver = round % comm.ranks();
      if (comm.rank() == leaver) continue;
      for (int call = 0; call < 3; ++call) {
        try {
          comm.run([&] { message.send(leaver, 1); });
          ADD_FAILURE() << "nothing was thrown";
        } catch (const rank_failed& error) {
          EXPECT_EQ(error.rank, leaver);
          EXPECT_NE(std::string(error.what()).find("teff::communicator: destroyed"), std::string::npos)
              << error.what();
        }
      }
    }
  });
}

TEST(communicator, may_end_while_somebody_holds_it) {
  on_jobs([](transport& through, runtime& rt) {
    std::optional<communicator::held> kept;
    communicator comm(rt, through);
    comm.run([] {});
    kept.emplace(comm.hold());
  });
}

TEST(rank_table, has_one_entry_of_each_rank_whichever_threads_ask_for_it) {
  constexpr int ranks = 3000;
  detail::rank_table<std::atomic<int>> table;
  std::vector<std::thread> threads;
  for (int first = 0; first < 3; ++first) {
    threads.emplace_back([&table, first] {
      for (int i = 0; i < ranks; ++i) ++table.at((first * 1000 + i) % ranks);
      table.each([](int /*rank*/, std::atomic<int>& visits) { ++visits; });
    });
  }
  for (auto& each : threads) each.join();
  std::vector<int> found(ranks);
  table.each([&](int rank, std::atomic<int>& visits) {
    EXPECT_EQ(visits, 6) << rank;
    ++found[static_cast<std::size_t>(rank)];
  });
  EXPECT_EQ(found, std::vector<int>(ranks, 1));
  EXPECT_EQ(table.find(ranks), nullptr);
}

}  // namespace
}  // namespace teff::test
