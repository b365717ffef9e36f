// The rings between the ranks of one node (rings.md).
#pragma once

#include <teff/detail/platform/doorbell.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>
#include <teff/transport.hpp>

#include "mpi/line_ring.hpp"
#include "platform/bell.hpp"
#include "platform/futex.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace teff::detail {

// One rank's end of the rings between all ranks of a node, which are numbered from 0 here. All channels share
// the rings. Each rank has a segment of shared memory, with its doorbell and the rings that lead to it.
class rings {
 public:
  // The size of a segment. `lines` is the number of lines of a ring, a power of two.
  [[nodiscard]] static std::size_t segment_bytes(std::size_t ranks, std::size_t lines) noexcept;
  // Prepares the own segment; to be called before any other rank makes its `rings`. The segment begins at a
  // cache line.
  static void prepare(std::byte* segment, std::size_t ranks, std::size_t lines);

  rings(std::vector<std::byte*> segments, std::size_t self, std::size_t lines);
  ~rings();

  // The packets for a channel that a worker found in the rings while it received for another channel.
  struct inbox;
  // The inbox of this channel, until close(). Packets that come earlier wait there.
  [[nodiscard]] inbox& open(std::uint32_t channel);
  void close(std::uint32_t channel) noexcept;
  // Whether that rank has opened this channel.
  [[nodiscard]] bool has_opened(std::size_t rank, std::uint32_t channel) const noexcept;

  // As in `channel`.
  void send(std::uint32_t channel, std::size_t to, packet&& bytes);
  [[nodiscard]] std::optional<channel::arrival> receive(inbox& of);
  [[nodiscard]] bool has_arrivals(const inbox& of) const noexcept;
  [[nodiscard]] std::size_t under_way(const inbox& of, std::size_t to) const noexcept;
  void on_arrival(inbox& of, std::function<void()> tell);
  [[nodiscard]] doorbell listen(std::uint32_t sleeper) noexcept;
  void rise(std::uint32_t sleeper) noexcept { bells_[self_]->rise(sleeper); }

  // Whether packets wait for room in a ring. has_arrivals() is true when there is room for one, and receive()
  // puts it there.
  [[nodiscard]] bool has_waiting() const noexcept { return waiting_.load(std::memory_order_seq_cst) != 0; }

  static constexpr std::size_t line_bytes = 56;  // bytes of a packet in a line, beside the stamp

 private:
  using payload = std::array<std::byte, line_bytes>;
  using memory = line_ring<futex, payload>;
  struct segment;
  struct outbound;
  struct inbound;

  [[nodiscard]] inbox& inbox_of(std::uint32_t channel);
  void put_waiting(outbound& out);
  void send_waiting();
  std::optional<channel::arrival> take(std::size_t from, const inbox& of);
  void deliver(inbox& in, channel::arrival came);

  const std::size_t self_;
  std::vector<bell<futex>*> bells_;
  std::vector<std::atomic<std::uint32_t>*> opened_;  // by rank: channels that it has opened
  std::vector<std::unique_ptr<outbound>> outbound_;  // none for this rank
  std::atomic<std::size_t> waiting_{0};              // packets that wait for room

  mutable spin_lock receiving_;  // guards what follows, and the inboxes
  std::vector<std::unique_ptr<inbound>> inbound_;
  std::size_t next_from_ = 0;
  std::map<std::uint32_t, std::unique_ptr<inbox>> inboxes_;
};

struct rings::inbox {
  explicit inbox(std::uint32_t of) noexcept : channel(of) {}
  const std::uint32_t channel;
  std::deque<channel::arrival> arrivals;
  std::function<void()> tell;
  std::atomic<std::size_t> size{0};      // arrivals
  std::atomic<std::size_t> from_own{0};  // arrivals from this rank
};

}  // namespace teff::detail
