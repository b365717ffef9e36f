// How a thread looks for something again and again, for a while: it reads the clock only each so many looks,
// and where threads share cores it gives way to others then.
#pragma once

#include <teff/detail/platform/relax.hpp>
#include <teff/detail/scheduler/waiting.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace teff::detail {

class search_pace {
 public:
  using clock = std::chrono::steady_clock;

  // `crowded`: whether a thread that searches may keep another from its work. It may become true meanwhile.
  search_pace(unsigned looks_between_readings, const std::atomic<bool>& crowded) noexcept
      : between_(looks_between_readings), crowded_(crowded) {}

  // Its patience begins, with the first reading of the clock from now on. It goes on until `most` only if no
  // other thread wants the core.
  void begin(clock::duration least, clock::duration most) noexcept {
    least_ = least;
    most_ = most;
    deadline_ = clock::time_point::max();
    has_lost_core_ = false;
    looks_ = 0;
  }
  void begin(clock::duration patience) noexcept { begin(patience, patience); }

  // After a look in vain. True: now the caller is to read the clock.
  [[nodiscard]] bool is_time_to_read() noexcept {
    if (++looks_ % between_ == 0) return true;
    relax();
    return false;
  }
  clock::time_point read_clock() noexcept {
    now_ = clock::now();
    if (deadline_ == clock::time_point::max()) {
      gives_way_from_ = now_ + least_;
      deadline_ = now_ + most_;
    }
    is_over_ = has_lost_core_ || now_ >= deadline_;
    return now_;
  }
  // By the last reading.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  // It gave way, and another thread took the core.
  [[nodiscard]] bool has_lost_core() const noexcept { return has_lost_core_; }
  // How many looks in vain there were since it began.
  [[nodiscard]] unsigned looks() const noexcept { return looks_; }
  void give_way() noexcept {
    if (now_ < gives_way_from_ && !crowded_.load(std::memory_order_relaxed)) return;
    std::this_thread::yield();
    has_lost_core_ = now_ >= gives_way_from_ && clock::now() - now_ > longest_gap;
  }

  // All of it, for a caller that does nothing else between two looks: after a look in vain, whether to look
  // again.
  [[nodiscard]] bool goes_on() noexcept {
    if (!is_time_to_read()) return true;
    read_clock();
    if (is_over()) return false;
    give_way();
    return true;
  }

 private:
  // That a yield takes if no other thread has the core meanwhile.
  static constexpr std::chrono::microseconds longest_gap{500};

  const unsigned between_;
  const std::atomic<bool>& crowded_;  // relaxed: a hint
  bool is_over_ = false;
  bool has_lost_core_ = false;
  unsigned looks_ = 0;
  clock::duration least_{};
  clock::duration most_{};
  clock::time_point now_;  // the last reading
  clock::time_point gives_way_from_ = clock::time_point::max();
  clock::time_point deadline_ = clock::time_point::max();
};

// For how long a worker looks for work before it parks: longer if other threads wake it again and again, soon
// after it has parked (parking.md).
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

 private:
  static constexpr unsigned wakes_to_learn_from = 4;

  const duration least_;
  const duration most_;
  bool is_long_ = false;
  unsigned soon_ = 0;  // so many times in succession it was woken soon
};

// Whether `done()` becomes true within that time.
template <class Done>
[[nodiscard]] bool happens_soon(Done done, std::chrono::microseconds patience = short_wait) noexcept {
  constexpr unsigned looks_between_clock_readings = 32;
  static constexpr std::atomic<bool> crowded{false};
  search_pace pace(looks_between_clock_readings, crowded);
  pace.begin(patience);
  while (!done()) {
    if (!pace.goes_on()) return false;
  }
  return true;
}

}  // namespace teff::detail
