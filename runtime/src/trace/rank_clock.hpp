// Estimates rank 0's clock on another rank, so that one trace can show the events of all ranks (README.md).
#pragma once

#include <cstdint>
#include <optional>

namespace teff::detail {

// A question of this rank and rank 0's answer, in nanoseconds. Each time is by the clock of the rank that
// read it.
struct clock_round_trip {
  std::int64_t asked;
  std::int64_t answered;  // when rank 0 answered, by its clock
  std::int64_t told;      // when the answer came

  // How far rank 0's clock is ahead, if it answered halfway; wrong by error() at most.
  [[nodiscard]] std::int64_t ahead() const noexcept { return answered - (asked + (told - asked) / 2); }
  [[nodiscard]] std::int64_t error() const noexcept { return (told - asked + 1) / 2; }
};

// Two processes with the same identity read the same clock: they are on one machine, and no container has
// moved the clock of either.
[[nodiscard]] std::uint64_t clock_identity();

class rank_clock {
 public:
  // Round trips in a series. The shortest one of a series counts.
  static constexpr int trips_a_series = 8;

  // Begins a series, unless one goes on or the clock is shared. The first series is kept; of later ones only
  // the last.
  void begin_series() noexcept;
  void end_series() noexcept { left_ = 0; }
  [[nodiscard]] bool lacks_trip() const noexcept { return left_ != 0; }
  // `same_clock`: both ranks say that they read the same clock.
  void add(const clock_round_trip& trip, bool same_clock) noexcept;

  // Both ranks run on one machine, and no round trip is made.
  void share() noexcept { add({}, true); }

  [[nodiscard]] bool is_known() const noexcept { return first_.has_value(); }
  // Whether both ranks read one clock, and no round trip contradicts that.
  [[nodiscard]] bool is_shared() const noexcept { return is_known() && same_ && agrees_; }
  // How far rank 0's clock is ahead when this clock shows `own`, by proportion between the two series.
  [[nodiscard]] std::int64_t ahead_at(std::int64_t own) const noexcept;
  // By how much a time that was translated so may be wrong.
  [[nodiscard]] std::int64_t error() const noexcept;

 private:
  int left_ = 0;
  bool same_ = false;
  bool agrees_ = true;
  std::optional<clock_round_trip> first_;  // the shortest of the first series
  std::optional<clock_round_trip> last_;   // the shortest of the last series
  bool in_first_ = true;
};

}  // namespace teff::detail
