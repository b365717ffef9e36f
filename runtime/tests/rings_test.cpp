// The rings between ranks of one node. The ranks are threads here.
#include <gtest/gtest.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "mpi/rings.hpp"
#include "workers.hpp"

namespace teff::test {
namespace {

using detail::rings;

// The memory that the ranks share, and each rank's end.
class ring_job {
 public:
  ring_job(std::size_t ranks, std::size_t lines) {
    const auto bytes = rings::segment_bytes(ranks, lines);
    std::vector<std::byte*> segments;
    for (std::size_t i = 0; i < ranks; ++i) {
      memory_.emplace_back(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64})));
      std::memset(memory_.back().get(), 0, bytes);
      rings::prepare(memory_.back().get(), ranks, lines);
      segments.push_back(memory_.back().get());
    }
    for (std::size_t i = 0; i < ranks; ++i) ends_.push_back(std::make_unique<rings>(segments, i, lines));
  }
  [[nodiscard]] rings& end(std::size_t rank) { return *ends_[rank]; }

 private:
  struct freed {
    void operator()(std::byte* at) const { ::operator delete(at, std::align_val_t{64}); }
  };
  std::vector<std::unique_ptr<std::byte, freed>> memory_;
  std::vector<std::unique_ptr<rings>> ends_;
};

// A packet with its sender, its number, and bytes that follow from these.
packet made_of(std::uint32_t from, std::uint32_t number, std::size_t size) {
  packet made;
  auto* const at = made.append(8 + size);
  std::memcpy(at, &from, 4);
  std::memcpy(at + 4, &number, 4);
  for (std::size_t i = 0; i < size; ++i) at[8 + i] = static_cast<std::byte>(i * 7 + number + from);
  return made;
}

[[nodiscard]] bool is_made_of(const packet& came, std::uint32_t from, std::uint32_t number,
                              std::size_t size) {
  const auto expected = made_of(from, number, size);
  return came.size() == expected.size() && std::memcmp(came.data(), expected.data(), came.size()) == 0;
}

TEST(rings, carry_packets_of_any_size) {
  ring_job job(2, 64);
  auto& box = job.end(1).open(0);
  static_cast<void>(job.end(0).open(0));
  std::uint32_t number = 0;
  for (const std::size_t size : {0, 1, 31, 32, 33, 88, 200, 872, 873, 5000}) {
    job.end(0).send(0, 1, made_of(0, number, size));
    // A piece that does not fit waits until the receiver has made room.
    std::optional<channel::arrival> came;
    while (!(came = job.end(1).receive(box))) static_cast<void>(job.end(0).receive(job.end(0).open(0)));
    EXPECT_EQ(came->from, 0);
    EXPECT_TRUE(is_made_of(came->bytes, 0, number++, size)) << size;
  }
  EXPECT_FALSE(job.end(1).receive(box));
  EXPECT_FALSE(job.end(0).has_waiting());
}

TEST(rings, keep_packets_whole_and_in_order_however_far_their_reader_is_behind) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const std::size_t lines : {64U, 512U, 4096U}) {
    ring_job job(2, lines);
    auto& own = job.end(0).open(0);
    auto& box = job.end(1).open(0);
    std::deque<std::size_t> sizes;  // of packets under way
    std::uint32_t sent = 0;
    std::uint32_t came = 0;
    for (int phase = 0; phase < 60; ++phase) {
      const auto sends_of_8 = random() % 8;
      const auto largest = std::size_t{1} << (random() % 14);
      for (int step = 0; step < 200; ++step) {
        if (random() % 8 < sends_of_8) {
          sizes.push_back(random() % largest);
          job.end(0).send(0, 1, made_of(0, sent++, sizes.back()));
        } else if (const auto next = job.end(1).receive(box)) {
          ASSERT_TRUE(is_made_of(next->bytes, 0, came++, sizes.front()));
          sizes.pop_front();
        }
        if (random() % 4 == 0)
          static_cast<void>(job.end(0).receive(own));  // sends packets that wait for room
      }
    }
    while (!sizes.empty()) {
      static_cast<void>(job.end(0).receive(own));
      if (const auto next = job.end(1).receive(box)) {
        ASSERT_TRUE(is_made_of(next->bytes, 0, came++, sizes.front()));
        sizes.pop_front();
      }
    }
    EXPECT_EQ(came, sent);
  }
}

TEST(rings, know_what_is_under_way) {
  ring_job job(2, 64);
  auto& box = job.end(0).open(0);
  auto& other = job.end(1).open(0);
  EXPECT_EQ(job.end(0).under_way(box, 1), 0U);
  for (std::uint32_t i = 0; i < 3; ++i) job.end(0).send(0, 1, made_of(0, i, 2000));
  EXPECT_EQ(job.end(0).under_way(box, 1), 3U);
  while (job.end(0).under_way(box, 1) != 0) {
    static_cast<void>(job.end(1).receive(other));
    static_cast<void>(job.end(0).receive(box));
  }
  job.end(0).send(0, 0, made_of(0, 1, 10));
  EXPECT_EQ(job.end(0).under_way(box, 0), 1U);
  EXPECT_TRUE(is_made_of(job.end(0).receive(box)->bytes, 0, 1, 10));
  EXPECT_EQ(job.end(0).under_way(box, 0), 0U);
}

TEST(rings, keep_the_packets_of_channels_apart) {
  ring_job job(2, 64);
  int told = 0;
  auto& first = job.end(1).open(1);
  job.end(1).on_arrival(first, [&] { ++told; });
  for (std::uint32_t i = 0; i < 4; ++i) job.end(0).send(i % 3, 1, made_of(0, i, 8));
  auto& second = job.end(1).open(2);
  EXPECT_TRUE(is_made_of(job.end(1).receive(second)->bytes, 0, 2, 8));
  EXPECT_EQ(told, 1);  // its packet lay before that of the second channel
  EXPECT_TRUE(job.end(1).has_arrivals(first));
  EXPECT_TRUE(is_made_of(job.end(1).receive(first)->bytes, 0, 1, 8));
  EXPECT_FALSE(job.end(1).receive(first));
  // Packets that came before the channel was open.
  auto& last = job.end(1).open(0);
  EXPECT_TRUE(is_made_of(job.end(1).receive(last)->bytes, 0, 0, 8));
  EXPECT_TRUE(is_made_of(job.end(1).receive(last)->bytes, 0, 3, 8));
}

constexpr std::uint32_t packets = 400;

// A rank of the test below: two threads send, each on another channel, and a third one receives.
class busy_rank {
 public:
  busy_rank(ring_job& job, std::size_t rank, std::size_t ranks, std::uint64_t seed)
      : end_(job.end(rank)), rank_(static_cast<std::uint32_t>(rank)), ranks_(ranks), seed_(seed) {
    const auto bell = end_.listen(2);
    for (std::uint32_t half = 0; half < 2; ++half) {
      boxes_.push_back(&end_.open(half));
      next_.emplace_back(ranks);
      // Wakes as a sender of another process would.
      end_.on_arrival(*boxes_[half], [bell] {
        const_cast<std::atomic<std::uint32_t>*>(bell.word)->store(0);
        detail::futex::wake_all(*bell.word);
      });
    }
  }
  void send(std::uint32_t half) {
    for (std::uint32_t i = 0; i < packets; ++i) {
      for (std::size_t to = 0; to < ranks_; ++to) end_.send(half, to, made(rank_, half, i));
    }
    --senders_;
  }
  void receive() {
    for (std::size_t left = 2 * packets * ranks_; left != 0;) {
      const auto taken = take(0) + take(1);
      left -= taken;
      if (taken != 0) continue;
      const auto bell = end_.listen(2);
      if (!end_.has_arrivals(*boxes_[0]) && !end_.has_arrivals(*boxes_[1]))
        ::syscall(SYS_futex, bell.word, FUTEX_WAIT, bell.quiet, nullptr, nullptr, 0);
    }
    for (; senders_ != 0 || end_.has_waiting(); std::this_thread::yield()) take(0);
  }

 private:
  [[nodiscard]] packet made(std::uint32_t from, std::uint32_t half, std::uint32_t number) const {
    std::minstd_rand random(static_cast<std::uint32_t>(seed_) + from * 7919 + half * 104729 + number + 1);
    random.discard(3);
    return made_of(2 * from + half, number, random() % 8 == 0 ? random() % 8000 : random() % 100);
  }
  std::size_t take(std::uint32_t half) {
    const auto came = end_.receive(*boxes_[half]);
    if (!came) return 0;
    auto& number = next_[half][static_cast<std::size_t>(came->from)];
    const auto expected = made(static_cast<std::uint32_t>(came->from), half, number++);
    EXPECT_EQ(came->bytes.size(), expected.size());
    EXPECT_EQ(std::memcmp(came->bytes.data(), expected.data(), expected.size()), 0);
    return 1;
  }

  rings& end_;
  const std::uint32_t rank_;
  const std::size_t ranks_;
  const std::uint64_t seed_;
  std::vector<rings::inbox*> boxes_;
  std::vector<std::vector<std::uint32_t>> next_;
  std::atomic<int> senders_{2};
};

// Each rank sends to all more than fits into the rings.
TEST(rings, lose_no_packet_and_no_wake_between_ranks_that_sleep) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  for (const std::size_t ranks : {2U, 3U}) {
    for (const std::size_t lines : {64U, 256U}) {
      ring_job job(ranks, lines);
      std::deque<busy_rank> all;
      for (std::size_t rank = 0; rank < ranks; ++rank) all.emplace_back(job, rank, ranks, seed);
      std::vector<std::thread> threads;
      for (auto& each : all) {
        threads.emplace_back([&each] { each.send(0); });
        threads.emplace_back([&each] { each.send(1); });
        threads.emplace_back([&each] { each.receive(); });
      }
      for (auto& each : threads) each.join();
    }
  }
}

}  // namespace
}  // namespace teff::test
