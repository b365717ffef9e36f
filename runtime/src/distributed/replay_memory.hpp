// The layout of a rank's memory, which other ranks share, or of which packets keep a copy up to date; and how
// a worker of a replay sleeps until another rank wakes it (replay.md).
#pragma once

#include <teff/detail/distributed/replay_ranks.hpp>

#include "platform/bell.hpp"
#include "platform/futex.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace teff::detail {

// The futex of bells that other processes ring.
struct shared_futex {
  template <class T>
  using atomic = std::atomic<T>;
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    futex_wait_processes(word, expected);
  }
  static void wait_at_most(const atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::chrono::nanoseconds most) noexcept {
    futex_wait_processes(word, expected, most);
  }
  static void wake_all(const atomic<std::uint32_t>& word) noexcept { futex_wake_processes(word); }
};

// At the beginning of a rank's memory; its workers' bells follow, then the outputs of its tasks.
struct alignas(128) replay_ranks::shared_head {
  std::atomic<std::uint32_t> failed{0};  // 1: a part has failed, on this rank or another one
  // How many iterations the rank runs in the replay with this number; which is stored last.
  std::atomic<std::uint64_t> times{0};
  std::atomic<std::uint64_t> replay{0};
};
struct alignas(128) replay_ranks::shared_bell : bell<shared_futex> {};

// The outputs of a task, in the memory of its rank or in a copy of that.
struct replay_ranks::table_entry {
  std::uint32_t kept;
  std::uint64_t bytes;
  std::uint64_t offset;
};

// Another rank from which or to which outputs go.
struct replay_ranks::peer {
  int rank = 0;
  std::size_t workers = 0;
  bool is_near = false;
  std::shared_ptr<std::byte> memory;  // of the rank, or a copy of it that packets write
  std::vector<kept_slots> slots;      // in it, by number of the entry
  // Of a rank that is not near: as in the head of its memory, from its packets. Under the lock receiving_.
  std::uint64_t replay = 0;
  std::uint64_t times = 0;
};

// The wait of a part that has waited so long that it sleeps.
struct replay_ranks::long_wait {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::atomic<std::uint32_t> wait{none};  // its number in the part
  std::atomic<std::uint64_t> iteration{0};
};

// The workers that are told when a task has ended.
struct replay_ranks::step_signals {
  struct far_rank {
    int rank;
    std::uint32_t entry;
    bool with_output;
  };
  std::vector<shared_bell*> bells;
  std::vector<far_rank> far;
};

// Before the output in a packet.
struct replay_packet {
  static constexpr std::uint32_t failure = 0xffff'ffff;  // in the place of an entry
  static constexpr std::uint32_t begins =
      0xffff'fffe;  // a replay, whose number follows; `iteration`: its times
  std::uint32_t generation;
  std::uint32_t entry;
  std::uint64_t iteration;
};

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

// The outputs of a task with so many bytes, of which so many are kept, from here on.
[[nodiscard]] inline kept_slots slots_at(std::byte* first, std::size_t bytes, std::uint32_t kept) noexcept {
  const auto stamp_at = rounded_up(bytes, alignof(replay_stamp<>));
  return {first, rounded_up(stamp_at + sizeof(replay_stamp<>), 128), stamp_at, kept - 1};
}
[[nodiscard]] inline std::size_t bytes_of(const kept_slots& slots) noexcept {
  return slots.stride * (slots.mask + 1);
}

}  // namespace teff::detail
