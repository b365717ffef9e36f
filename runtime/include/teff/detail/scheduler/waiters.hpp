// Threads that wait for something that the work of a source brings about.
#pragma once

#include <teff/detail/scheduler/source.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace teff::detail {

// A thread that brings the awaited thing about stores that first, then asks any(), then calls wake().
// A thread that waits counts itself first, then looks. All of this is seq_cst: one of the two sees the other.
class waiters {
 public:
  explicit waiters(scheduler& runtime) noexcept : runtime_(runtime) {}

  // Returns when done(what). A worker of the runtime runs work meanwhile, work of `awaited` first. Any other
  // thread sleeps; if it is a spare thread, another spare thread takes its place.
  void wait_until(bool (*done)(const void*), const void* what, source& awaited);

  // Whether any thread waits. seq_cst: pairs with the count in wait_until().
  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; }
  // A hint.
  [[nodiscard]] bool may_be_any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }
  // Has all of them look again.
  void wake() noexcept;

 private:
  scheduler& runtime_;
  std::atomic<unsigned> count_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<unsigned> workers_;
};

}  // namespace teff::detail
