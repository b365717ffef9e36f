// Copies of data in memory that the ranks of a node share: deposits, and help for reads of another rank's
// memory (src/message/large.md).
#pragma once

#include <sys/types.h>

#include <teff/detail/scheduler/spin_lock.hpp>

#include "mpi/helped_read.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace teff::detail {

// One rank's end of the copies between all ranks of a node, which are numbered from 0 here. Each rank has a
// segment with a few slots that lead to it from each other rank, and a word for each rank that reads its
// memory. Any thread may call any function.
class shared_copies {
 public:
  // Bytes of a slot; 0: with so many ranks, slots would be too small to be of use.
  [[nodiscard]] static std::size_t slot_bytes(std::size_t ranks) noexcept;
  // The size of a segment, which begins at a cache line.
  [[nodiscard]] static std::size_t segment_bytes(std::size_t ranks) noexcept;
  // Prepares the own segment; to be called before any other rank makes its `shared_copies`.
  static void prepare(std::byte* segment, std::size_t ranks);

  shared_copies(std::vector<std::byte*> segments, std::size_t self);

  // ---- Deposits: a rank makes a copy for another rank ----

  // Copies the bytes into a slot to that rank, and returns its number; nothing if no slot is free, or a slot
  // is too small.
  [[nodiscard]] std::optional<std::uint32_t> put(std::uint32_t channel, std::size_t to,
                                                 std::span<const std::byte> bytes);
  // Copies the bytes of a slot from that rank, and frees the slot. The number has come in a packet that was
  // sent after put().
  void take(std::size_t from, std::uint32_t number, std::span<std::byte> to) noexcept;
  // Frees a slot of which the other rank was not told.
  void take_back(std::size_t to, std::uint32_t number) noexcept;
  // Frees the slots that were filled for this channel, which no rank uses any more.
  void close(std::uint32_t channel) noexcept;

  // ---- Reads: a rank copies from the memory of another rank, which helps by copies in slots ----

  // Copies bytes that lie at this address in the memory of rank `from`, whose process is `process`. Throws
  // std::system_error.
  void read(std::size_t from, pid_t process, std::uint64_t address, std::span<std::byte> to);
  // Helps the ranks that read this rank's memory; returns whether it copied anything.
  bool help() noexcept;
  // Whether a rank that reads this rank's memory can be helped.
  [[nodiscard]] bool is_asked() const noexcept;

  static constexpr std::size_t slots = 4;  // from each rank to each other

 private:
  struct system {
    template <class T>
    using atomic = std::atomic<T>;
  };
  // Of two ranks: in the segment of one, for the other.
  struct alignas(64) shared {
    struct alignas(64) slot {
      std::atomic<std::uint32_t> full{0};
    };
    std::array<slot, slots> from_other;          // slots that lead to this rank
    helped_read<system, slots> read_by_other{};  // of this rank's memory
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // so it may be shared between processes

  struct other_rank {
    other_rank(shared& in_theirs, shared& in_own, std::size_t part)
        : theirs(in_theirs),
          own(in_own),
          reads(in_theirs.read_by_other, part, {.for_help = 16, .for_copy = 128}),
          helps(in_own.read_by_other, part) {}
    shared& theirs;
    shared& own;
    spin_lock mutex;  // guards `channel`, and the choice of a free slot
    std::array<std::uint32_t, slots> channel{};
    spin_lock reading;  // guards `reads`
    reading_end<system, slots> reads;
    spin_lock helping;  // guards `helps`
    helping_end<system, slots> helps;
  };

  // A channel number that no transport gives.
  static constexpr std::uint32_t no_channel = ~std::uint32_t{0};

  [[nodiscard]] std::byte* bytes(std::size_t to, std::size_t from, std::uint32_t number) noexcept;
  // Takes a free slot to that rank, and returns its number; nothing if no slot is free.
  [[nodiscard]] std::optional<std::uint32_t> reserve(std::uint32_t channel, std::size_t to);
  bool help(std::size_t reader) noexcept;

  const std::size_t self_;
  const std::vector<std::byte*> segments_;
  const std::size_t slot_bytes_;
  const std::size_t part_;                           // bytes of a part of a helped read
  std::vector<std::unique_ptr<other_rank>> others_;  // none for this rank, and none without slots
};

}  // namespace teff::detail
