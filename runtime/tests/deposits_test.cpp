// Copies of data in memory that ranks share. The ranks are threads here.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "mpi/shared_copies.hpp"

namespace teff::test {
namespace {

using detail::shared_copies;

// The memory that the ranks share, and each rank's end.
class shared_slots {
 public:
  explicit shared_slots(std::size_t ranks) {
    std::vector<std::byte*> segments;
    for (std::size_t i = 0; i < ranks; ++i) {
      memory_.emplace_back(
          static_cast<std::byte*>(::operator new(shared_copies::segment_bytes(ranks), std::align_val_t{64})));
      shared_copies::prepare(memory_.back().get(), ranks);
      segments.push_back(memory_.back().get());
    }
    for (std::size_t i = 0; i < ranks; ++i) ends_.push_back(std::make_unique<shared_copies>(segments, i));
  }
  [[nodiscard]] shared_copies& end(std::size_t rank) { return *ends_[rank]; }

 private:
  struct freed {
    void operator()(std::byte* at) const { ::operator delete(at, std::align_val_t{64}); }
  };
  std::vector<std::unique_ptr<std::byte, freed>> memory_;
  std::vector<std::unique_ptr<shared_copies>> ends_;
};

std::vector<std::byte> bytes_of(std::size_t size, unsigned value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

constexpr std::uint32_t channel = 3;

TEST(deposits, keep_what_was_put_there_until_it_is_taken) {
  shared_slots slots(3);
  std::vector<std::uint32_t> full;
  while (const auto number = slots.end(0).put(channel, 1, bytes_of(1000, full.size() + 1))) {
    full.push_back(*number);
    ASSERT_LT(full.size(), 100U) << "it must end some time";
  }
  ASSERT_GE(full.size(), 2U);
  EXPECT_TRUE(slots.end(0).put(channel, 2, bytes_of(10, 1))) << "another rank's slots are its own";
  EXPECT_TRUE(slots.end(2).put(channel, 1, bytes_of(10, 1)));
  std::vector<std::byte> came(1000);
  for (std::size_t i = full.size(); i-- > 0;) {
    slots.end(1).take(0, full[i], came);
    EXPECT_EQ(came, bytes_of(1000, static_cast<unsigned>(i) + 1));
    EXPECT_TRUE(slots.end(0).put(channel, 1, bytes_of(1, 9)));
    EXPECT_FALSE(slots.end(0).put(channel, 1, bytes_of(1, 9)));
  }
}

TEST(deposits, take_no_more_than_a_slot_holds) {
  for (const std::size_t ranks : {2, 3, 8}) {
    shared_slots slots(ranks);
    const auto most = shared_copies::slot_bytes(ranks);
    EXPECT_GE(most, 32U << 10);
    EXPECT_FALSE(slots.end(0).put(channel, 1, bytes_of(most + 1, 1)));
    const auto data = bytes_of(most, 7);
    const auto number = slots.end(0).put(channel, 1, data);
    ASSERT_TRUE(number);
    std::vector<std::byte> came(most);
    slots.end(1).take(0, *number, came);
    EXPECT_EQ(came, data);
  }
  EXPECT_EQ(shared_copies::slot_bytes(1), 0U);
  EXPECT_EQ(shared_copies::segment_bytes(64), 0U) << "memory is bounded";
  shared_slots none(64);
  EXPECT_FALSE(none.end(0).put(channel, 1, bytes_of(1, 1)));
  none.end(0).close(channel);
}

TEST(deposits, are_free_again_when_they_are_taken_back_refused_or_their_channel_closed) {
  shared_slots slots(2);
  const auto fill = [&](std::uint32_t of) {
    std::vector<std::uint32_t> full;
    while (const auto number = slots.end(0).put(of, 1, bytes_of(10, 1))) full.push_back(*number);
    return full;
  };
  const auto all = fill(channel);
  for (const auto number : all) slots.end(0).take_back(1, number);
  EXPECT_EQ(fill(channel).size(), all.size());
  for (const auto number : all) slots.end(1).take(0, number, {});
  EXPECT_EQ(fill(channel).size(), all.size());
  slots.end(0).close(channel + 1);
  EXPECT_EQ(fill(channel).size(), 0U) << "another channel's stay";
  slots.end(0).close(channel);
  EXPECT_EQ(fill(channel + 1).size(), all.size());
}

// Two threads of one rank put, and two of the other one take. A word tells each taker, as a packet would.
TEST(deposits, are_whole_whoever_uses_the_slots_meanwhile) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  constexpr unsigned pairs = 2;
  constexpr unsigned times = 2000;
  shared_slots slots(2);
  std::atomic<unsigned> wrong{0};
  std::atomic<unsigned> copied{0};
  struct told {
    std::atomic<std::uint32_t> number{0};  // number of the slot, plus one; 0: none yet
    std::size_t size = 0;
    unsigned value = 0;
  };
  std::vector<told> lines(pairs);
  std::vector<std::thread> threads;
  for (unsigned pair = 0; pair < pairs; ++pair) {
    threads.emplace_back([&, pair] {
      std::mt19937 random(seed + pair);
      auto& line = lines[pair];
      for (unsigned time = 0; time < times; ++time) {
        const auto size = random() % 3000 + 1;
        auto data = bytes_of(size, pair * 100 + time);
        std::optional<std::uint32_t> number;
        while (!(number = slots.end(0).put(channel, 1, data))) std::this_thread::yield();
        std::ranges::fill(data, std::byte{0xee});
        while (line.number.load(std::memory_order_acquire) != 0) std::this_thread::yield();
        line.size = size;
        line.value = pair * 100 + time;
        line.number.store(*number + 1, std::memory_order_release);
      }
    });
    threads.emplace_back([&, pair] {
      auto& line = lines[pair];
      for (unsigned time = 0; time < times; ++time) {
        std::uint32_t number = 0;
        while ((number = line.number.load(std::memory_order_acquire)) == 0) std::this_thread::yield();
        const auto expected = bytes_of(line.size, line.value);
        line.number.store(0, std::memory_order_release);
        std::vector<std::byte> came(expected.size());
        slots.end(1).take(0, number - 1, came);
        if (came != expected) ++wrong;
        ++copied;
      }
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(copied, pairs * times);
}

}  // namespace
}  // namespace teff::test
