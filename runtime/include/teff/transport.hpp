// transport: how packets get from rank to rank. A communicator (message.hpp) sends its messages over one.
//
// There are three: loopback (ranks in one process, loopback.hpp), simulated (delays and reorders, from a
// seed, simulated.hpp), and mpi (processes, mpi.hpp). One of your own derives from these two classes.
#pragma once

#include <teff/detail/message/packet.hpp>
#include <teff/detail/scheduler/doorbell.hpp>
#include <teff/detail/standard_library.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace teff {

// Bytes on their way, at an address where any plain type may lie. It can be moved, not copied.
using packet = detail::packet;

// One rank's end of a channel between all ranks. Nothing passes from one channel to another.
class channel {
 public:
  struct arrival {
    int from;
    packet bytes;
  };

  channel() = default;
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  virtual ~channel() = default;

  // Sends a packet, also to the own rank. It arrives, once; packets of one rank for one other arrive in the
  // order in which they were sent. Does not wait. Any thread may call it. The packet is the channel's then;
  // one that needs only its bytes may leave the caller its memory.
  virtual void send(int to, packet&& bytes) = 0;
  // The next packet that has come; nothing if there is none. One thread at a time calls it.
  virtual std::optional<arrival> receive() = 0;
  // Whether receive() would give a packet. Any thread may call it.
  [[nodiscard]] virtual bool has_arrivals() const noexcept = 0;
  // How many packets were sent to this rank that have not been received there, or left here at least. While
  // there are some, the sender gathers further messages into one packet.
  [[nodiscard]] virtual std::size_t under_way(int to) const noexcept = 0;
  // Whether packets come from other processes that can wake who sleeps here, but can't call `tell`.
  [[nodiscard]] virtual bool rings() const noexcept { return false; }
  // Then: somebody is about to call has_arrivals() a last time, and to sleep. Returns the word on which they
  // wake him. Each sleeper of the process has a number of its own, 2 at least (src/platform/bell.hpp).
  [[nodiscard]] virtual std::optional<detail::doorbell> listen(std::uint32_t sleeper) noexcept;
  // That sleeper need not be woken any more.
  virtual void rise(std::uint32_t sleeper) noexcept;
  // Whether there may be packets of which nobody is told, so that somebody has to look: has_arrivals() is
  // false then.
  [[nodiscard]] virtual bool is_polled() const noexcept { return false; }
  // Whether packets to that rank go through memory that it shares with this one; for counters.
  [[nodiscard]] virtual bool is_near(int to) const noexcept;
  // From now on `tell` is called whenever a packet has come of which listen() does not tell, by any thread,
  // until it is set again or the channel is destroyed. It only wakes somebody.
  virtual void on_arrival(std::function<void()> tell) = 0;

  // ---- Large messages: bytes go from memory to memory, by one of three ways ----

  // Puts a copy of these bytes where rank `to` can take it by withdraw(); returns its number there. Nothing:
  // they are too many, or there is no room now. Any thread may call it.
  [[nodiscard]] virtual std::optional<std::uint32_t> deposit(int to, std::span<const std::byte> bytes);
  // Copies what rank `from` has deposited under this number, as many bytes, or none; it is gone then. A
  // packet that was sent after deposit() has told of it. Any thread may call it.
  virtual void withdraw(int from, std::uint32_t number, std::span<std::byte> to);
  // What was deposited for rank `to`, which is not told of it, is gone.
  virtual void take_back(int to, std::uint32_t number);

  // Else: whether this rank can read the memory of that one, by read().
  [[nodiscard]] virtual bool reads(int from) const noexcept;
  // Copies bytes that lie at this address in the memory of rank `from`, where nobody changes them. Any thread
  // may call it. Throws std::system_error.
  virtual void read(int from, std::uint64_t address, std::span<std::byte> to);
  // Else: the bytes that rank `from` is going to supply under this number, as many, are to be put here; then
  // receive() returns `then`, as a packet of that rank. The other rank is told to supply them when this has
  // returned. Numbers are below 1000, and differ among those that are expected at one time. Neither function
  // waits. Any thread may call them.
  virtual void expect(int from, int number, std::span<std::byte> to, packet then);
  // When these bytes have left, receive() returns `then`, as a packet of this rank.
  virtual void supply(int to, int number, std::span<const std::byte> bytes, packet then);
};

// Where memory that a rank shares is to be found: of use to transport::map_memory() only.
struct memory_name {
  std::uint64_t owner = 0;
  std::uint64_t number = 0;
  std::uint64_t size = 0;
};

// One rank's way to the others. It outlives its channels.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int ranks() const noexcept = 0;
  // Opens a channel: the n-th call on one rank and the n-th calls on the others open the ends of one channel.
  [[nodiscard]] virtual std::unique_ptr<channel> open() = 0;
  // In words, for whom open() waits while it does not return; any thread may ask.
  [[nodiscard]] virtual std::string awaited() const;

  // Whether the ranks of this machine have fewer cores than workers, if each has so many workers. A worker
  // that looks for work in vain gives way to others then.
  [[nodiscard]] virtual bool is_crowded(unsigned workers) const noexcept;

  // ---- Memory that ranks share, where there is such a thing ----

  // Memory of so many bytes, all zero and aligned as a page, that other ranks can use as well. Null: none
  // can. It is there as long as one of those who have it keeps it. Throws std::bad_alloc.
  [[nodiscard]] virtual std::shared_ptr<std::byte> share_memory(std::size_t size, memory_name& name);
  // What rank `of` shares under this name, while that keeps it. Null: this rank can't use it.
  [[nodiscard]] virtual std::shared_ptr<std::byte> map_memory(int of, const memory_name& name);

  // For other parts of libteff: how many of a kind, as "communicator", have been made over this transport,
  // with one that is about to be. All ranks make them in the same order: so the number means the same there.
  [[nodiscard]] unsigned count_next(const std::string& kind);

 private:
  std::mutex counting_;  // guards what follows
  std::map<std::string, unsigned> made_;
};

}  // namespace teff
