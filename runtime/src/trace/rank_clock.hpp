// What a rank knows of rank 0's clock, so that one trace can show the events of all ranks (README.md).
#pragma once

#include <cstdint>
#include <optional>

namespace teff::detail {

// A question of this rank, and rank 0's answer: in nanoseconds, by the clock of who was there.
struct clock_round_trip {
  std::int64_t asked;
  std::int64_t answered;  // by rank 0's clock
  std::int64_t told;      // when the answer was here

  // What rank 0's clock is ahead, as if the answer was given halfway; it is wrong by `error` at most.
  [[nodiscard]] std::int64_t ahead() const noexcept { return answered - (asked + (told - asked) / 2); }
  [[nodiscard]] std::int64_t error() const noexcept { return (told - asked + 1) / 2; }
};

// Two processes with the same one read the same clock: not of another machine, nor moved for a container.
[[nodiscard]] std::uint64_t clock_identity();

class rank_clock {
 public:
  // Of several round trips that follow each other, the shortest says most.
  static constexpr int trips_a_series = 8;

  // The next series begins, unless one goes on. The first one stays; of later ones the last counts.
  void begin_series() noexcept;
  void end_series() noexcept { left_ = 0; }
  // Whether the series lacks a round trip. `same_clock`: both ranks say that they read the same clock.
  [[nodiscard]] bool lacks_trip() const noexcept { return left_ != 0; }
  void add(const clock_round_trip& trip, bool same_clock) noexcept;

  [[nodiscard]] bool is_known() const noexcept { return first_.has_value(); }
  // Whether the clock is the same, and all round trips agree that it is.
  [[nodiscard]] bool is_shared() const noexcept { return is_known() && same_ && agrees_; }
  // How far rank 0's clock is ahead when this one shows `own`: between the series by proportion.
  [[nodiscard]] std::int64_t ahead_at(std::int64_t own) const noexcept;
  // By how much a time may be wrong that was translated so.
  [[nodiscard]] std::int64_t error() const noexcept;

 private:
  int left_ = 0;
  bool same_ = false;
  bool agrees_ = true;
  std::optional<clock_round_trip> first_;  // the shortest of the first series
  std::optional<clock_round_trip> last_;   // of the last one
  bool in_first_ = true;
};

}  // namespace teff::detail
