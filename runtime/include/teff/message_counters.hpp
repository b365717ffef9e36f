// message_counters: how much a rank has sent.
#pragma once

#include <cstdint>

namespace teff {

// What a communicator has done on this rank since it was made (communicator::counters()). Exact when run() is
// not in progress.
struct message_counters {
  std::uint64_t sent = 0;     // messages; each step of a large one is one, and so is each of a collective
  std::uint64_t bytes = 0;    // of these, as they travel
  std::uint64_t packets = 0;  // in which these have left: the fewer, the more were gathered
  std::uint64_t handled = 0;  // messages whose handlers have ended here, or that were dropped after a failure
  std::uint64_t large = 0;    // large messages that were sent
  std::uint64_t large_bytes = 0;
  std::uint64_t waits = 0;  // times that a sender waited for room
};

}  // namespace teff
