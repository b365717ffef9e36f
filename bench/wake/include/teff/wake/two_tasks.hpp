#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "teff/spawn/spawn_patterns.hpp"
#include "teff/wake/work.hpp"

namespace teff::wake {

/// Where two tasks wait for each other. The first keeps its worker until the second has come, so the second
/// is on another one; or until its patience ends, for there may be no other.
class meeting_point {
 public:
  using clock = std::chrono::steady_clock;

  explicit meeting_point(seconds patience) : patience_(patience) {}

  void arrive() {
    const auto now = clock::now();
    // acq_rel: a thread that sees both tasks here reads the second one's time.
    if (here_.fetch_add(1, std::memory_order_acq_rel) == 0) {
      wait_for_other(now);
    } else if (!alone_.load(std::memory_order_acquire)) {
      second_ = now;
    }
  }

  /// When the second came; nothing if the first did not wait any longer. For after both have returned.
  [[nodiscard]] std::optional<clock::time_point> second() const { return second_; }

 private:
  void wait_for_other(clock::time_point began) {
    while (here_.load(std::memory_order_acquire) == 1) {
      if (clock::now() - began > patience_) {
        alone_.store(true, std::memory_order_release);
        return;
      }
      std::this_thread::yield();  // the other task's worker may have to run on this core
    }
  }

  seconds patience_;
  std::atomic<int> here_{0};
  std::atomic<bool> alone_{false};
  std::optional<clock::time_point> second_;
};

template <class System>
concept has_two_tasks = spawn::has_scope<System> || spawn::has_fork2<System>;

/// Spawns a task that another worker has to take: seconds until it has begun there. Nothing where no worker
/// came in time.
template <class System>
  requires has_two_tasks<System>
std::optional<double> seconds_to_another_worker(seconds patience) {
  meeting_point both(patience);
  const auto arrive = [&both] { both.arrive(); };
  const auto spawned = meeting_point::clock::now();
  if constexpr (spawn::has_fork2<System>) {
    spawn::fork2_void<System>(arrive, arrive);
  } else {
    System::scope([&arrive](auto& tasks) {
      tasks.spawn(arrive);
      arrive();
    });
  }
  const auto second = both.second();
  if (!second) return {};
  return seconds(*second - spawned).count();
}

}  // namespace teff::wake
