// How a thread looks for something again and again, for a while: it reads the clock only each so many looks,
// and where threads share cores it gives way to others then.
#pragma once

#include "platform/relax.hpp"

#include <chrono>
#include <thread>

namespace teff::detail {

class search_pace {
 public:
  using clock = std::chrono::steady_clock;

  // `crowded`: a thread that searches may keep another from its work.
  search_pace(unsigned looks_between_readings, bool crowded) noexcept
      : between_(looks_between_readings), crowded_(crowded) {}

  // Its patience begins, with the first reading of the clock from now on.
  void begin(clock::duration patience) noexcept {
    patience_ = patience;
    deadline_ = clock::time_point::max();
    looks_ = 0;
  }

  // After a look in vain. True: now the caller is to read the clock.
  [[nodiscard]] bool is_time_to_read() noexcept {
    if (++looks_ % between_ == 0) return true;
    relax();
    return false;
  }
  clock::time_point read_clock() noexcept {
    const auto now = clock::now();
    if (deadline_ == clock::time_point::max()) deadline_ = now + patience_;
    is_over_ = now >= deadline_;
    return now;
  }
  // By the last reading.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  // How many looks in vain there were since it began.
  [[nodiscard]] unsigned looks() const noexcept { return looks_; }
  void give_way() const noexcept {
    if (crowded_) std::this_thread::yield();
  }

  // All of it, for who does nothing else between two looks: after a look in vain, whether to look again.
  [[nodiscard]] bool goes_on() noexcept {
    if (!is_time_to_read()) return true;
    read_clock();
    if (is_over()) return false;
    give_way();
    return true;
  }

 private:
  const unsigned between_;
  const bool crowded_;
  bool is_over_ = false;
  unsigned looks_ = 0;
  clock::duration patience_{};
  clock::time_point deadline_ = clock::time_point::max();
};

}  // namespace teff::detail
