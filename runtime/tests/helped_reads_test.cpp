// Reads of other ranks' memory, with the help of these ranks. The ranks are threads of this process.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <system_error>
#include <thread>
#include <vector>

#include "mpi/shared_copies.hpp"

namespace teff::test {
namespace {

using detail::shared_copies;

// The memory that the ranks share, and each rank's ends.
class node_of_threads {
 public:
  explicit node_of_threads(std::size_t ranks) {
    std::vector<std::byte*> segments;
    for (std::size_t i = 0; i < ranks; ++i) {
      segments.push_back(segment(shared_copies::segment_bytes(ranks)));
      shared_copies::prepare(segments.back(), ranks);
    }
    for (std::size_t i = 0; i < ranks; ++i) ends_.push_back(std::make_unique<shared_copies>(segments, i));
  }
  [[nodiscard]] shared_copies& end(std::size_t rank) { return *ends_[rank]; }

 private:
  std::byte* segment(std::size_t size) {
    memory_.emplace_back(
        static_cast<std::byte*>(::operator new(std::max<std::size_t>(size, 1), std::align_val_t{64})));
    return memory_.back().get();
  }
  struct freed {
    void operator()(std::byte* at) const { ::operator delete(at, std::align_val_t{64}); }
  };
  std::vector<std::unique_ptr<std::byte, freed>> memory_;
  std::vector<std::unique_ptr<shared_copies>> ends_;
};

// Bytes that differ from place to place, and from seed to seed.
std::vector<std::byte> bytes_by(unsigned seed, std::size_t size) {
  std::vector<std::byte> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>(seed + i * 31 + (i >> 13));
  return made;
}

std::uint64_t address_of(const std::vector<std::byte>& data) {
  return reinterpret_cast<std::uintptr_t>(data.data());
}

// While it lives, a thread of this rank looks whether it can help.
class helper {
 public:
  helper(node_of_threads& node, std::size_t rank)
      : thread_([this, &node, rank] {
          while (!stops_.load()) {
            if (node.end(rank).help()) ++helped_;
            std::this_thread::yield();
          }
        }) {}
  ~helper() {
    stops_.store(true);
    thread_.join();
  }
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;
  [[nodiscard]] bool has_helped() const { return helped_.load() != 0; }

 private:
  std::atomic<bool> stops_{false};
  std::atomic<int> helped_{0};
  std::thread thread_;
};

constexpr std::size_t large = 1'000'003;

TEST(helped_reads, arrive_whole_without_help) {
  for (const std::size_t ranks : {2, 3, 64}) {
    node_of_threads node(ranks);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{131'072}, large}) {
      const auto data = bytes_by(1, size);
      std::vector<std::byte> came(size);
      node.end(1).read(0, getpid(), address_of(data), came);
      EXPECT_EQ(came, data);
    }
    EXPECT_FALSE(node.end(0).is_asked()) << "nobody reads any more";
    EXPECT_FALSE(node.end(0).help());
  }
}

TEST(helped_reads, arrive_whole_with_help_again_and_again) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  node_of_threads node(2);
  const helper helps(node, 0);
  std::mt19937 random(seed);
  for (int time = 0; time < 20 || !helps.has_helped(); ++time) {
    auto data = bytes_by(seed + static_cast<unsigned>(time), large - random() % 200'000);
    const auto expected = data;
    std::vector<std::byte> came(data.size());
    node.end(1).read(0, getpid(), address_of(data), came);
    std::ranges::fill(data, std::byte{0});  // the sanitizers would see a helper that still reads
    ASSERT_EQ(came, expected);
  }
}

TEST(helped_reads, go_on_on_several_threads_and_between_several_ranks_at_once) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  constexpr std::size_t ranks = 3;
  node_of_threads node(ranks);
  std::vector<std::unique_ptr<helper>> helpers;
  for (std::size_t i = 0; i < ranks; ++i) helpers.push_back(std::make_unique<helper>(node, i));
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (unsigned i = 0; i < 2 * ranks; ++i) {
    readers.emplace_back([&, i] {
      const auto data = bytes_by(seed + i, large);
      for (int time = 0; time < 10; ++time) {
        std::vector<std::byte> came(large);
        node.end(i % ranks).read((i + 1) % ranks, getpid(), address_of(data), came);
        if (came != data) ++wrong;
      }
    });
  }
  for (auto& each : readers) each.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(helped_reads, of_memory_that_is_not_there_throw_and_the_next_one_is_as_any_other) {
  node_of_threads node(2);
  std::vector<std::byte> came(large);
  EXPECT_THROW(node.end(1).read(0, getpid(), 8, came), std::system_error);
  const auto data = bytes_by(3, large);
  const helper helps(node, 0);
  node.end(1).read(0, getpid(), address_of(data), came);
  EXPECT_EQ(came, data);
}

}  // namespace
}  // namespace teff::test
