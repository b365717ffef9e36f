#include "trace/rank_clock.hpp"

#include "platform/digest.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace teff::detail {

namespace {

// Two processes that read one clock still translate ticks to nanoseconds separately.
constexpr std::int64_t error_of_shared_clock = 1000;

void keep_shorter(std::optional<clock_round_trip>& kept, const clock_round_trip& trip) noexcept {
  if (!kept || trip.error() < kept->error()) kept = trip;
}

}  // namespace

std::uint64_t clock_identity() {
  std::string words;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> words;
  struct stat moved_by{};
  if (::stat("/proc/self/ns/time", &moved_by) == 0) words += " " + std::to_string(moved_by.st_ino);
  return digest_of(words);
}

void rank_clock::begin_series() noexcept {
  if (left_ != 0 || is_shared()) return;
  left_ = trips_a_series;
  in_first_ = !first_.has_value();
  if (!in_first_) last_.reset();
}

void rank_clock::add(const clock_round_trip& trip, bool same_clock) noexcept {
  same_ = same_clock;
  const auto ahead = trip.ahead();
  agrees_ = agrees_ && std::max(ahead, -ahead) <= trip.error() + error_of_shared_clock;
  keep_shorter(in_first_ ? first_ : last_, trip);
  if (left_ != 0) --left_;
}

std::int64_t rank_clock::ahead_at(std::int64_t own) const noexcept {
  if (!first_ || is_shared()) return 0;
  if (!last_ || last_->asked == first_->asked) return first_->ahead();
  const auto grows = static_cast<double>(last_->ahead() - first_->ahead());
  const auto part =
      static_cast<double>(own - first_->asked) / static_cast<double>(last_->asked - first_->asked);
  return first_->ahead() + static_cast<std::int64_t>(grows * part);
}

std::int64_t rank_clock::error() const noexcept {
  if (!first_ || is_shared()) return error_of_shared_clock;
  return error_of_shared_clock + std::max(first_->error(), last_ ? last_->error() : 0);
}

}  // namespace teff::detail
