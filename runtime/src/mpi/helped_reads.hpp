// Reads of other ranks' memory within a node, with the help of these ranks (src/message/large.md).
#pragma once

#include <sys/types.h>

#include <teff/detail/scheduler/spin_lock.hpp>

#include "mpi/deposits.hpp"
#include "mpi/helped_read.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace teff::detail {

// One rank's end of the reads between all ranks of a node, which are numbered from 0 here. Each rank has a
// segment that it shares with the ranks which read its memory.
class helped_reads {
 public:
  // The size of a segment, which begins at a cache line.
  [[nodiscard]] static std::size_t segment_bytes(std::size_t ranks) noexcept;
  // Prepares the own segment; to be called before any other rank makes its `helped_reads`.
  static void prepare(std::byte* segment, std::size_t ranks);

  // Copies pass through the slots of `deposits`.
  helped_reads(const std::vector<std::byte*>& segments, std::size_t self, detail::deposits& deposits);

  // Copies bytes that lie at this address in the memory of rank `from`, whose process is `process`. Any
  // thread may call it. Throws std::system_error.
  void read(std::size_t from, pid_t process, std::uint64_t address, std::span<std::byte> to);
  // Helps the ranks that read this rank's memory; returns whether it copied anything. Any thread may call it.
  bool help() noexcept;
  // Whether a rank that reads this rank's memory can be helped. Any thread may call it.
  [[nodiscard]] bool is_asked() const noexcept;

 private:
  struct system {
    template <class T>
    using atomic = std::atomic<T>;
  };
  struct alignas(64) shared : helped_read<system, deposits::slots> {};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // so it may be shared between processes

  struct other_rank {
    other_rank(shared& there, shared& here, std::size_t part)
        : reads(there, part, {.for_help = 16, .for_copy = 128}), helps(here, part) {}
    spin_lock reading;  // guards `reads`
    reading_end<system, deposits::slots> reads;
    spin_lock helping;  // guards `helps`
    helping_end<system, deposits::slots> helps;
  };

  // A channel number that no transport gives.
  static constexpr std::uint32_t no_channel = ~std::uint32_t{0};

  [[nodiscard]] static shared& of(std::byte* segment, std::size_t reader) noexcept;
  bool help(std::size_t reader) noexcept;

  detail::deposits& deposits_;
  const std::size_t part_;
  std::vector<std::unique_ptr<other_rank>> others_;  // none for this rank
};

}  // namespace teff::detail
