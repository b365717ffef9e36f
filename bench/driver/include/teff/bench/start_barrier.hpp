#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace teff::bench {

/// Wakes all workers of a system that does not give us its threads. One task for each worker waits here for
/// the others, so all workers are awake when the wait returns. The wait lasts 20 ms at most, since some
/// systems don't promise each task a separate worker.
class start_barrier {
 public:
  explicit start_barrier(int workers) : expected_(workers) {}

  void arrive_and_wait() {
    arrived_.fetch_add(1, std::memory_order_relaxed);
    while (arrived_.load(std::memory_order_relaxed) < expected_ &&
           std::chrono::steady_clock::now() < deadline_)
      std::this_thread::yield();
  }

 private:
  const int expected_;
  const std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  std::atomic<int> arrived_ = 0;  // relaxed: it orders nothing else
};

}  // namespace teff::bench
