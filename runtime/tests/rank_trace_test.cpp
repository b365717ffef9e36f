// One trace of all ranks, over loopback and over a simulated network; and the estimate of another rank's
// clock.
#include <gtest/gtest.h>
#include <teff/collectives.hpp>
#include <teff/distributed_graph.hpp>
#include <teff/loopback.hpp>
#include <teff/message.hpp>
#include <teff/simulated.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rank_traces.hpp"
#include "trace/rank_clock.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

namespace fs = std::filesystem;

// A new folder, which is removed after the test.
class trace_of_ranks : public testing::Test {
 protected:
  trace_of_ranks() {
    std::string pattern = (fs::temp_directory_path() / "teff_trace_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  ~trace_of_ranks() override { fs::remove_all(folder); }

  // Calls body(communicator) on each rank of the job, whose runtimes end before this returns. The rank
  // `untraced` has no trace.
  template <class Job, class Body>
  void trace(Job& job, unsigned workers, Body body, int untraced = -1) {
    std::vector<std::thread> threads;
    for (int i = 0; i < job.ranks(); ++i) {
      threads.emplace_back([&, i] {
        runtime rt{{.workers = workers, .trace = i == untraced ? "" : (folder / "trace.json").string()}};
        communicator comm(rt, job.rank(i));
        body(comm);
      });
    }
    for (auto& each : threads) each.join();
  }
  // Reads the only file in the folder.
  [[nodiscard]] rank_trace read(int ranks) const {
    const fs::directory_iterator files(folder);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
    return {nlohmann::json::parse(std::ifstream(fs::directory_iterator(folder)->path())), ranks};
  }

  fs::path folder;
};

// Sends small messages, some of them ordered, and large ones, to all ranks and to this one.
void talk(communicator& comm, int rounds) {
  std::atomic<int> came{0};
  std::vector<double> data(1000, 1.5);
  std::vector<std::vector<double>> landed(static_cast<std::size_t>(comm.ranks()), std::vector<double>(1000));
  const auto pong = comm.on(ordered, [&](const std::string& words) { came += words == "back" ? 1 : 0; });
  const auto ping = comm.on([&](int from) { pong.send(from, "back"); });
  const auto large =
      comm.on_large([&](int from, std::size_t) { return std::span(landed[static_cast<std::size_t>(from)]); },
                    [&](int, std::span<double> all) { came += all.back() == 1.5 ? 1 : 0; });
  comm.run([&] {
    for (int i = 0; i < rounds; ++i) {
      for (int to = 0; to < comm.ranks(); ++to) ping.send(to, comm.rank());
    }
    for (int to = 0; to < comm.ranks(); ++to) large.send(to, comm.rank(), data);
  });
  EXPECT_EQ(came, (rounds + 1) * comm.ranks());
}

TEST_F(trace_of_ranks, is_one_file_with_an_arrow_for_each_message) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  constexpr int rounds = under_sanitizer ? 5 : 20;
  for (const int ranks : {2, 3, 5}) {
    for (const bool is_far : {false, true}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, far: " << is_far);
      fs::remove_all(folder);
      fs::create_directory(folder);
      if (is_far) {
        simulated job(ranks, seed);
        trace(job, 2, [](communicator& comm) { talk(comm, rounds); });
      } else {
        loopback job(ranks);
        trace(job, 2, [](communicator& comm) { talk(comm, rounds); });
      }
      const auto all = read(ranks);
      EXPECT_EQ(all.faults(), "");
      const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
      EXPECT_EQ(all.messages(), pairs * (2 * rounds + 1));
      EXPECT_EQ(all.messages_between_ranks(), (pairs - static_cast<std::size_t>(ranks)) * (2 * rounds + 1));
      EXPECT_EQ(all.counted("messages sent"), static_cast<double>(all.messages()));
      EXPECT_EQ(all.counted("messages that came"), static_cast<double>(all.messages()));
      for (int rank = 1; rank < ranks; ++rank) EXPECT_EQ(all.clocks().at(rank), "clock shared with rank 0");
      // The receiver of a large message sends an answer, unless a copy was deposited.
      const auto own = static_cast<std::uint64_t>(ranks);
      const std::string path = is_far ? "far" : "near";
      EXPECT_EQ(all.sent("own", "large"), own);
      EXPECT_EQ(all.sent(path, "large"), pairs - own);
      EXPECT_EQ(all.sent(path, "large_bytes"), (pairs - own) * 8000);
      EXPECT_EQ(all.sent(is_far ? "near" : "far", "sent"), 0U);
      EXPECT_GE(all.sent(path, "sent"), (pairs - own) * (2 * rounds + (is_far ? 1 : 2)));
      EXPECT_EQ(all.sent("own", "sent") + all.sent(path, "sent"), all.handled());
    }
  }
}

TEST_F(trace_of_ranks, has_the_messages_of_graphs_and_collectives) {
  loopback job(3);
  trace(job, 1, [](communicator& comm) {
    std::atomic<int> sums{0};
    const auto sum = on_reduction<int>(comm, 0, std::plus<>{}, [&](std::uint64_t, int) { ++sums; });
    comm.run([&] { sum.give(1, comm.rank()); });
    distributed_graph<int> g(comm);
    g.rank([](int key) { return key % 3; }).indegree([](int) { return 1; }).body([&](int key) {
      if (key < 30) g.fulfill(key + 1);
    });
    if (comm.rank() == 0) g.fulfill(0);
    g.wait();
  });
  const auto all = read(3);
  EXPECT_EQ(all.faults(), "");
  EXPECT_EQ(all.messages(), 30U + 3U + 2U);  // keys; a value of each rank to itself; two to parents
}

TEST_F(trace_of_ranks, is_whole_when_a_rank_throws) {
  loopback job(3);
  trace(job, 2, [](communicator& comm) {
    const auto message = comm.on([](int) {});
    const auto body = [&] {
      message.send(0, 1);
      if (comm.rank() == 1) throw std::out_of_range("as asked");
    };
    EXPECT_ANY_THROW(comm.run(body));
    talk(comm, 3);
  });
  // A message that was dropped has no arrival, so its arrow has one end.
  const auto all = read(3);
  EXPECT_EQ(all.clocks().size(), 3U);
  EXPECT_GE(all.messages(), 3U * 3U * 7U);
}

TEST_F(trace_of_ranks, leaves_out_a_rank_that_is_not_traced_and_keeps_its_messages_as_they_are) {
  for (const int untraced : {0, 1}) {
    SCOPED_TRACE(untraced);
    loopback job(2);
    trace(job, 2, [](communicator& comm) { talk(comm, 10); }, untraced);
  }
}

TEST_F(trace_of_ranks, of_another_job_takes_the_place_of_the_one_before) {
  for (int round = 0; round < 2; ++round) {
    loopback job(2);
    trace(job, 1, [](communicator& comm) { talk(comm, 2); });
  }
  std::size_t files = 0;
  for (const auto& each : fs::directory_iterator(folder)) {
    ++files;
    const rank_trace all(nlohmann::json::parse(std::ifstream(each.path())), 2);
    EXPECT_EQ(all.faults(), "");
  }
  EXPECT_GE(files, 1U);
}

// ---- Clocks ----

using detail::clock_round_trip;
using detail::rank_clock;

TEST(clock_of_a_rank, is_taken_for_shared_only_if_round_trips_agree) {
  rank_clock clock;
  EXPECT_FALSE(clock.is_known());
  clock.begin_series();
  for (int i = 0; i < rank_clock::trips_a_series; ++i) {
    ASSERT_TRUE(clock.lacks_trip());
    clock.add({1000 * i, 1000 * i + 300, 1000 * i + 500}, true);
  }
  EXPECT_FALSE(clock.lacks_trip());
  EXPECT_TRUE(clock.is_shared());
  EXPECT_EQ(clock.ahead_at(123), 0);
  clock.begin_series();
  EXPECT_FALSE(clock.lacks_trip());
  clock.add({10'000, 1'000'000, 10'500}, true);
  EXPECT_FALSE(clock.is_shared());
}

// Rank 0's clock is ahead and runs at another speed. Translated times are wrong by no more than error().
TEST(clock_of_a_rank, that_drifts_is_followed_between_series_within_the_error_that_it_states) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    const auto ahead = static_cast<std::int64_t>(random() % 2'000'000'000) - 1'000'000'000;
    const auto drift = static_cast<std::int64_t>(random() % 200) - 100;  // parts per million
    const auto of_rank_0 = [&](std::int64_t own) { return own + ahead + own / 1'000'000 * drift; };
    rank_clock clock;
    std::int64_t now = 0;
    for (int series = 0; series < 3; ++series) {
      now += 20'000'000'000;
      clock.begin_series();
      for (int i = 0; i < rank_clock::trips_a_series; ++i) {
        const auto there = static_cast<std::int64_t>(2000 + random() % 100'000);
        const auto back = static_cast<std::int64_t>(2000 + random() % 100'000);
        clock.add({now, of_rank_0(now + there), now + there + back}, false);
        now += there + back;
      }
    }
    EXPECT_FALSE(clock.is_shared());
    for (std::int64_t own = 20'000'000'000; own < now; own += 1'000'000'000)
      EXPECT_LE(std::abs(own + clock.ahead_at(own) - of_rank_0(own)), clock.error() + 200) << own;
  }
}

}  // namespace
}  // namespace teff::test
