// transport: how packets get from rank to rank. A communicator (message.hpp) sends its messages over one.
//
// There are three: loopback (ranks in one process, loopback.hpp), simulated (delays and reorders, from a
// seed, simulated.hpp), and mpi (processes, mpi.hpp). A transport of a program derives from these two
// classes.
#pragma once

#include <teff/detail/message/packet.hpp>
#include <teff/detail/platform/doorbell.hpp>
#include <teff/detail/private_access.hpp>
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

// The bytes of a packet, aligned for any plain type. It can be moved, not copied.
using packet = detail::packet;

// One rank's end of a channel between all ranks. A packet arrives only on the channel on which it was sent.
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

  // Sends a packet, also to the own rank. It arrives once. Packets of one rank to another arrive in the order
  // in which they were sent. Does not wait. Any thread may call it. The channel takes the packet; it may
  // leave its memory to the caller if it needs only the bytes.
  virtual void send(int to, packet&& bytes) = 0;
  // Takes the next packet that has come; nothing if there is none. One thread at a time calls it.
  virtual std::optional<arrival> receive() = 0;
  // Whether receive() would return a packet. Any thread may call it.
  [[nodiscard]] virtual bool has_arrivals() const noexcept = 0;
  // How many packets to this rank have not been received there, or at least have not left here. While there
  // are some, the sender gathers further messages into one packet.
  [[nodiscard]] virtual std::size_t under_way(int to) const noexcept = 0;
  // Whether packets come from other processes, which can wake a worker that sleeps here but can not call
  // `tell`.
  [[nodiscard]] virtual bool rings() const noexcept { return false; }
  // To be called if rings() is true, by a worker that is about to call has_arrivals() a last time and to
  // sleep. Returns the word on which a sender wakes it. Each sleeper of the process has its own number, 2 at
  // least (src/platform/bell.hpp).
  [[nodiscard]] virtual std::optional<detail::doorbell> listen(std::uint32_t /*sleeper*/) noexcept {
    return std::nullopt;
  }
  // The sleeper is awake: no sender has to wake it.
  virtual void rise(std::uint32_t /*sleeper*/) noexcept {}
  // Whether packets may come without a sign, so that a worker has to call receive() to find them:
  // has_arrivals() may be false then.
  [[nodiscard]] virtual bool is_polled() const noexcept { return false; }
  // Whether packets to that rank go through memory that it shares with this one; for counters.
  [[nodiscard]] virtual bool is_near(int /*to*/) const noexcept { return false; }
  // Sets `tell`, which is called when a packet has come, unless listen() covers it. Any thread calls it,
  // until it is set again or the channel is destroyed. It only wakes a worker.
  virtual void on_arrival(std::function<void()> tell) = 0;

  // ---- Large messages: bytes go from memory to memory, by one of three ways ----

  // Puts a copy of these bytes where rank `to` can take it by withdraw(), and returns its number there.
  // Returns nothing if they are too many, or there is no room now. Any thread may call it.
  [[nodiscard]] virtual std::optional<std::uint32_t> deposit(int /*to*/,
                                                             std::span<const std::byte> /*bytes*/) {
    return std::nullopt;
  }
  // Takes a copy that rank `from` has deposited under this number: as many bytes, or none to drop it. A
  // packet that was sent after deposit() has named it. Any thread may call it.
  virtual void withdraw(int /*from*/, std::uint32_t /*number*/, std::span<std::byte> /*to*/) {
    lacks("withdraw");
  }
  // Drops a copy that was deposited for rank `to`, which has not been told of it.
  virtual void take_back(int /*to*/, std::uint32_t /*number*/) { lacks("take_back"); }

  // The second way: whether this rank can read the memory of that one, by read().
  [[nodiscard]] virtual bool reads(int /*from*/) const noexcept { return false; }
  // Copies bytes that lie at this address in the memory of rank `from`, where no thread changes them. Any
  // thread may call it. Throws std::system_error.
  virtual void read(int /*from*/, std::uint64_t /*address*/, std::span<std::byte> /*to*/) { lacks("read"); }
  // The third way: rank `from` is going to supply as many bytes under this number, which are to be put here.
  // Then receive() returns `then`, as a packet of that rank. The caller tells the other rank to supply them
  // after this has returned. Numbers are below 1000, and differ among the bytes that are expected at one
  // time. Neither function waits. Any thread may call them.
  virtual void expect(int /*from*/, int /*number*/, std::span<std::byte> /*to*/, packet /*then*/) {
    lacks("expect");
  }
  // Sends these bytes to where rank `to` expects them. When they have left, receive() returns `then`, as a
  // packet of this rank.
  virtual void supply(int /*to*/, int /*number*/, std::span<const std::byte> /*bytes*/, packet /*then*/) {
    lacks("supply");
  }

 private:
  // A function that the channel of a program does not define, and whose way of large messages it offers.
  [[noreturn]] static void lacks(const char* function);
};

// Names memory that a rank shares, for transport::map_memory().
struct memory_name {
  std::uint64_t owner = 0;
  std::uint64_t number = 0;
  std::uint64_t size = 0;
};

// One rank's way to the other ranks. It outlives its channels.
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
  // Says in words which ranks an open() in progress waits for. Any thread may ask.
  [[nodiscard]] virtual std::string awaited() const { return "other ranks"; }

  // Whether the ranks of this machine have fewer cores than workers, if each has so many workers. A worker
  // that looks for work in vain then gives way to others.
  [[nodiscard]] virtual bool is_crowded(unsigned /*workers*/) const noexcept { return false; }

  // ---- Memory that ranks share, where there is such a thing ----

  // Makes memory of so many bytes, all zero and aligned as a page, that other ranks can use as well. Null: no
  // other rank could use it. It lives as long as a rank keeps a pointer to it. Throws std::bad_alloc.
  [[nodiscard]] virtual std::shared_ptr<std::byte> share_memory(std::size_t /*size*/, memory_name& /*name*/) {
    return nullptr;
  }
  // The memory that rank `of` shares under this name; that rank has to keep it meanwhile. Null: this rank can
  // not use it.
  [[nodiscard]] virtual std::shared_ptr<std::byte> map_memory(int /*of*/, const memory_name& /*name*/) {
    return nullptr;
  }

 private:
  friend struct detail::private_access;
  std::mutex counting_;  // guards what follows
  std::map<std::string, unsigned> made_;
};

// What has gone to some ranks.
struct message_counts {
  std::uint64_t sent = 0;         // messages; each step of a large one is one, and so is each of a collective
  std::uint64_t bytes = 0;        // of these, as they travel
  std::uint64_t packets = 0;      // in which these have left: the fewer, the more were gathered
  std::uint64_t large = 0;        // large messages
  std::uint64_t large_bytes = 0;  // of their data

  message_counts& operator+=(const message_counts& more) noexcept {
    sent += more.sent;
    bytes += more.bytes;
    packets += more.packets;
    large += more.large;
    large_bytes += more.large_bytes;
    return *this;
  }
};

// Counts of a communicator on this rank since it was made (communicator::counters()): of all messages, and of
// the messages on each path. Exact when run() is not in progress.
struct message_counters : message_counts {
  message_counts own;   // to this rank itself
  message_counts near;  // to ranks that share memory with this rank, on its node
  message_counts far;   // to other ranks, through a network

  std::uint64_t handled = 0;  // messages whose handlers have ended here, or that were dropped after a failure
  std::uint64_t waits = 0;    // times that a sender waited for room
};

}  // namespace teff
