// What a program without threads of its own wakes all of its system's workers with.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace teff::bench {

/// Where a task for each worker waits for the others: all of them are awake then. No longer than 20 ms, for
/// systems that promise no task a worker of its own.
class meeting {
 public:
  explicit meeting(int workers) : expected_(workers) {}

  void attend() {
    come_.fetch_add(1, std::memory_order_relaxed);
    while (come_.load(std::memory_order_relaxed) < expected_ && std::chrono::steady_clock::now() < deadline_)
      std::this_thread::yield();
  }

 private:
  const int expected_;
  const std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  std::atomic<int> come_ = 0;  // relaxed: it orders nothing else
};

}  // namespace teff::bench
