// Copies of data in memory that the ranks of a node share: from one rank for another, which copies them once
// more to where they are to land (large.md, in src/message).
#pragma once

#include <teff/detail/scheduler/spin_lock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace teff::detail {

// One rank's end of the slots between all ranks of a node, which are numbered from 0 here. Each rank has a
// segment with the slots that lead to it, a few from each other rank.
class deposits {
 public:
  // Bytes of a slot; 0: there are too many ranks for slots of any use.
  [[nodiscard]] static std::size_t slot_bytes(std::size_t ranks) noexcept;
  // What a segment needs. It begins at a cache line.
  [[nodiscard]] static std::size_t segment_bytes(std::size_t ranks) noexcept;
  // Its owner calls it, before any other rank's `deposits` is made.
  static void prepare(std::byte* segment, std::size_t ranks);

  deposits(std::vector<std::byte*> segments, std::size_t self);

  // The number of a slot to that rank in which a copy of the bytes lies now; nothing if none is free, or it
  // would be too small. Any thread may call it.
  [[nodiscard]] std::optional<std::uint32_t> put(std::uint32_t channel, std::size_t to,
                                                 std::span<const std::byte> bytes);
  // The number of a slot to that rank that is free, and is not any more; nothing if none is. Any thread may
  // call it.
  [[nodiscard]] std::optional<std::uint32_t> reserve(std::uint32_t channel, std::size_t to);
  // Fills a slot that was reserved.
  void write(std::size_t to, std::uint32_t number, std::span<const std::byte> bytes) noexcept;
  // Copies what lies in a slot from that rank, and frees it. The number has come in a packet that was sent
  // after put(), or by a release after write().
  void take(std::size_t from, std::uint32_t number, std::span<std::byte> to) noexcept;
  // Frees a slot of which the other rank is not told.
  void take_back(std::size_t to, std::uint32_t number) noexcept;
  // Frees what was put for this channel: no rank takes anything from it any more.
  void close(std::uint32_t channel) noexcept;

  static constexpr std::size_t slots = 4;  // from each rank to each other

 private:
  struct alignas(64) slot {
    std::atomic<std::uint32_t> full{0};
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);  // so it may be shared between processes

  struct outgoing {
    spin_lock mutex;  // guards `channel`, and who fills a slot next
    std::array<std::uint32_t, slots> channel{};
  };

  [[nodiscard]] slot& state(std::size_t to, std::size_t from, std::uint32_t number) noexcept;
  [[nodiscard]] std::byte* bytes(std::size_t to, std::size_t from, std::uint32_t number) noexcept;

  const std::size_t self_;
  const std::vector<std::byte*> segments_;
  const std::size_t slot_bytes_;
  std::vector<outgoing> outgoing_;
};

}  // namespace teff::detail
