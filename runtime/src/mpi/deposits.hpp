// Copies of data in memory that the ranks of a node share. A rank makes a copy for another rank, which copies
// it to the program's memory (src/message/large.md).
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
  // Bytes of a slot; 0: with so many ranks, slots would be too small to be of use.
  [[nodiscard]] static std::size_t slot_bytes(std::size_t ranks) noexcept;
  // The size of a segment, which begins at a cache line.
  [[nodiscard]] static std::size_t segment_bytes(std::size_t ranks) noexcept;
  // Prepares the own segment; to be called before any other rank makes its `deposits`.
  static void prepare(std::byte* segment, std::size_t ranks);

  deposits(std::vector<std::byte*> segments, std::size_t self);

  // Copies the bytes into a slot to that rank, and returns its number; nothing if no slot is free, or a slot
  // is too small. Any thread may call it.
  [[nodiscard]] std::optional<std::uint32_t> put(std::uint32_t channel, std::size_t to,
                                                 std::span<const std::byte> bytes);
  // Takes a free slot to that rank, and returns its number; nothing if no slot is free. Any thread may call
  // it.
  [[nodiscard]] std::optional<std::uint32_t> reserve(std::uint32_t channel, std::size_t to);
  // Fills a slot that reserve() has taken.
  void write(std::size_t to, std::uint32_t number, std::span<const std::byte> bytes) noexcept;
  // Copies the bytes of a slot from that rank, and frees the slot. The number has come in a packet that was
  // sent after put(), or by a release after write().
  void take(std::size_t from, std::uint32_t number, std::span<std::byte> to) noexcept;
  // Frees a slot of which the other rank was not told.
  void take_back(std::size_t to, std::uint32_t number) noexcept;
  // Frees the slots that were filled for this channel, which no rank uses any more.
  void close(std::uint32_t channel) noexcept;

  static constexpr std::size_t slots = 4;  // from each rank to each other

 private:
  struct alignas(64) slot {
    std::atomic<std::uint32_t> full{0};
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);  // so it may be shared between processes

  struct outgoing {
    spin_lock mutex;  // guards `channel`, and the choice of a free slot
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
