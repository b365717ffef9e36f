// For how long a worker looks for work before it parks: longer where it is woken again and again, soon after
// it has parked (parking.md).
#pragma once

#include <algorithm>
#include <chrono>

namespace teff::detail {

class spin_patience {
 public:
  using duration = std::chrono::steady_clock::duration;

  // It parks after `least`, at times after `most`. The two are the same where it is not to change.
  spin_patience(duration least, duration most) noexcept : least_(least), most_(std::max(least, most)) {}

  [[nodiscard]] duration least() const noexcept { return least_; }
  [[nodiscard]] duration now() const noexcept { return is_long_ ? most_ : least_; }
  [[nodiscard]] bool is_long() const noexcept { return is_long_; }

  // It has looked so long in vain, or another thread wants its core.
  void was_in_vain() noexcept {
    is_long_ = false;
    soon_ = 0;
  }
  // Somebody has woken it after it had slept so long.
  void was_woken(duration slept) noexcept {
    soon_ = slept <= most_ / 2 && least_ < most_ ? soon_ + 1 : 0;
    if (soon_ == wakes_to_learn_from) is_long_ = true;
  }
  // It woke by itself.
  void woke() noexcept { soon_ = 0; }

 private:
  static constexpr unsigned wakes_to_learn_from = 4;

  const duration least_;
  const duration most_;
  bool is_long_ = false;
  unsigned soon_ = 0;  // so many times in succession it was woken soon
};

}  // namespace teff::detail
