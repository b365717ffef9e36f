// message_counters: how much a rank has sent.
#pragma once

#include <cstdint>

namespace teff {

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

// What a communicator has done on this rank since it was made (communicator::counters()): what it has sent to
// all, and of that by the path which it took. Exact when run() is not in progress.
struct message_counters : message_counts {
  message_counts own;   // to this rank itself
  message_counts near;  // to ranks that share memory with this one, as those of its node
  message_counts far;   // to others, through a network

  std::uint64_t handled = 0;  // messages whose handlers have ended here, or that were dropped after a failure
  std::uint64_t waits = 0;    // times that a sender waited for room
};

}  // namespace teff
