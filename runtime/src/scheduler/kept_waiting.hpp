// When a thread that runs requests itself is to wake a worker for the others (requests.md).
#pragma once

#include <teff/detail/scheduler/processor_clock.hpp>

#include <algorithm>
#include <cstdint>

namespace teff::detail {

// For how long requests have waited while the thread ran others, and nobody was woken for them. When that is
// as long as a wake takes, one is due: so they have waited at most twice as long as had been best.
template <class Clock = processor_clock>
class kept_waiting {
 public:
  // The thread begins one. `others`: whether there are others. Returns whether a wake is due.
  [[nodiscard]] bool begins_one(bool others) noexcept {
    if (!others && since_ == 0) return false;  // the usual case, without reading the clock
    const auto now = Clock::now();
    const auto wake = Clock::in(wake_nanoseconds);
    if (since_ != 0) waited_ += std::min(now - since_, wake);
    since_ = others ? now : 0;
    if (!others || waited_ < wake) return false;
    waited_ = 0;
    return true;
  }

  static constexpr std::int64_t wake_nanoseconds = 30'000;

 private:
  std::int64_t since_ = 0;  // others have waited; 0: none did
  std::int64_t waited_ = 0;
};

}  // namespace teff::detail
