// simulated: a network with random delays and a virtual clock.
#pragma once

#include <teff/transport.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace teff {

// A job of several ranks in this process, whose packets are delayed at random. Packets of different pairs of
// ranks may overtake each other. Packets of one pair arrive in their order, as in every network below a
// channel (MPI orders messages, TCP bytes). No packet is lost. The data of a large message come in pieces,
// which are copied when they arrive, before and after all other packets of their pair. At random, the data
// are deposited instead.
//
//   teff::simulated job(3, seed);
//   ... job.rank(0) ...
//
// The clock is virtual: it stands still until a rank looks for packets where none is due, and then moves on
// to the next one that is. So nothing waits for time to pass. A program of one thread that asks the ranks in
// an order made from the same seed does exactly the same again.
//
// Any thread may call anything; the job outlives all channels.
class simulated {
 public:
  // Throws misuse if there would be no rank.
  simulated(int ranks, std::uint64_t seed);
  ~simulated();
  simulated(const simulated&) = delete;
  simulated& operator=(const simulated&) = delete;

  [[nodiscard]] int ranks() const noexcept;
  // Throws misuse if there is no such rank.
  [[nodiscard]] transport& rank(int rank);
  // Ticks since the beginning.
  [[nodiscard]] std::uint64_t now() const;
  // Packets that have not been received.
  [[nodiscard]] std::size_t under_way() const;
  // Data that were deposited and not withdrawn.
  [[nodiscard]] std::size_t deposited() const;

 private:
  class network;
  class end;
  std::shared_ptr<network> network_;
  std::vector<std::unique_ptr<transport>> transports_;
};

}  // namespace teff
