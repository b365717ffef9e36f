#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "teff/bench/noise.hpp"
#include "teff/messages/contents.hpp"
#include "teff/messages/work.hpp"

namespace teff::messages {

/// One run on one of the two ranks: the clock, and the messages that have arrived. One thread at a time uses
/// it.
class trial {
 public:
  trial(const work& asked, int rank, bench::region_meter& region)
      : asked_(asked), rank_(rank), region_(region) {}

  [[nodiscard]] const work& asked() const { return asked_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int other() const { return 1 - rank_; }

  /// Rank 0, before each turn from 0 on: whether there is such a turn. Starts and stops the clock.
  [[nodiscard]] bool begins(std::int64_t turn) {
    if (turn == asked_.warm_turns()) start();
    if (turn == asked_.warm_turns() + asked_.turns) stop();
    return turn < asked_.all_turns();
  }
  /// By hand: on rank 1, and of an idle run.
  void start() { region_.start(); }
  void stop() { region_.stop(); }

  /// A message that is only a number has come.
  void arrived(std::uint64_t number) { seen_.add(number); }
  /// Any other. The trial reads the last turn's message in full.
  void arrived(std::span<const std::byte> message);

  [[nodiscard]] const tally& seen() const { return seen_; }

 private:
  const work& asked_;
  int rank_;
  bench::region_meter& region_;
  tally seen_;
};

/// The messages that have to arrive at a rank: `one_way` messages numbered by their turn (of a chain, by
/// their task) and `burst` messages numbered from 0 on. Rank 0 also gets each turn's answer, with the turn's
/// number.
[[nodiscard]] tally expected(const work& asked, int rank);

}  // namespace teff::messages
