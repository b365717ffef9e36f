// Estimates rank 0's clock on another rank, so that one trace can show the events of all ranks (README.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
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

class rank_clock {
 public:
  // Round trips in a series. The shortest one of a series counts.
  static constexpr int trips_a_series = 8;

  // Begins a series, unless one goes on or the clock is shared. The first series is kept; of later ones only
  // the last.
  void begin_series() noexcept {
    if (left_ != 0 || is_shared()) return;
    left_ = trips_a_series;
    in_first_ = !first_;
    if (!in_first_) last_.reset();
  }
  void end_series() noexcept { left_ = 0; }
  [[nodiscard]] bool lacks_trip() const noexcept { return left_ != 0; }
  // `same_clock`: both ranks say that they read the same clock.
  void add(const clock_round_trip& trip, bool same_clock) noexcept {
    same_ = same_clock;
    agrees_ = agrees_ && std::abs(trip.ahead()) <= trip.error() + error_of_shared_clock;
    auto& kept = in_first_ ? first_ : last_;
    if (!kept || trip.error() < kept->error()) kept = trip;
    if (left_ != 0) --left_;
  }

  // Both ranks run on one machine, and no round trip is made.
  void share() noexcept { add({}, true); }

  [[nodiscard]] bool is_known() const noexcept { return first_.has_value(); }
  // Whether both ranks read one clock, and no round trip contradicts that.
  [[nodiscard]] bool is_shared() const noexcept { return is_known() && same_ && agrees_; }
  // How far rank 0's clock is ahead when this clock shows `own`, by proportion between the two series.
  [[nodiscard]] std::int64_t ahead_at(std::int64_t own) const noexcept {
    if (!first_ || is_shared()) return 0;
    if (!last_ || last_->asked == first_->asked) return first_->ahead();
    const auto grows = static_cast<double>(last_->ahead() - first_->ahead());
    const auto part =
        static_cast<double>(own - first_->asked) / static_cast<double>(last_->asked - first_->asked);
    return first_->ahead() + static_cast<std::int64_t>(grows * part);
  }
  // By how much a time that was translated so may be wrong.
  [[nodiscard]] std::int64_t error() const noexcept {
    if (!first_ || is_shared()) return error_of_shared_clock;
    return error_of_shared_clock + std::max(first_->error(), last_ ? last_->error() : 0);
  }

 private:
  // Two processes that read one clock still translate ticks to nanoseconds separately.
  static constexpr std::int64_t error_of_shared_clock = 1000;

  int left_ = 0;
  bool same_ = false;
  bool agrees_ = true;
  std::optional<clock_round_trip> first_;  // the shortest of the first series
  std::optional<clock_round_trip> last_;   // the shortest of the last series
  bool in_first_ = true;
};

}  // namespace teff::detail
