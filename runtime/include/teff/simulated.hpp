// simulated: a network with random delays and a virtual clock, for tests.
#pragma once

#include <teff/loopback.hpp>

#include <cstddef>
#include <cstdint>

namespace teff {

// A job of several ranks in this process, whose packets are delayed at random. A packet may overtake packets
// of other pairs of ranks. It is never lost, and never overtakes a packet of the same pair: no network below
// a channel does that either (MPI orders messages, TCP bytes). The data of a large message are deposited, or
// come in pieces, at random. Each piece is copied when it arrives, which may be before or after any other
// packet.
//
//   teff::simulated job(3, seed);
//   ... job.rank(0) ...
//
// The clock stands still until a rank looks for packets. If no packet to that rank is due yet, the clock
// moves on to the time of the next packet. So nothing waits for time to pass. A program of one thread that
// asks the ranks in an order from the same seed does exactly the same again.
//
// Any thread may call any function. The job outlives all channels.
class simulated : public loopback {
 public:
  // Throws misuse if there would be no rank.
  simulated(int ranks, std::uint64_t seed);

  // Ticks since the beginning.
  [[nodiscard]] std::uint64_t now() const;
  // Packets that have not been received.
  [[nodiscard]] std::size_t under_way() const;
  // Copies of data that were deposited and not withdrawn.
  [[nodiscard]] std::size_t deposited() const;
};

}  // namespace teff
