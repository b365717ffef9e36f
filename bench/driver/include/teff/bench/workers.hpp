#pragma once

#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_set>

namespace teff::bench {

/// Counts the threads of a system that work. Each thread calls answer(), which waits until `asked` different
/// threads have called, `patience` at most: so no thread answers in the place of another one.
class roll_call {
 public:
  explicit roll_call(int asked, std::chrono::milliseconds patience = std::chrono::seconds(10))
      : asked_(asked), deadline_(std::chrono::steady_clock::now() + patience) {}

  void answer() {
    {
      const std::scoped_lock lock(mutex_);
      present_.insert(std::this_thread::get_id());
    }
    while (count() < asked_ && std::chrono::steady_clock::now() < deadline_) std::this_thread::yield();
  }

  /// The threads that have called answer().
  [[nodiscard]] int count() {
    const std::scoped_lock lock(mutex_);
    return static_cast<int>(present_.size());
  }

 private:
  const int asked_;
  const std::chrono::steady_clock::time_point deadline_;
  std::mutex mutex_;
  std::unordered_set<std::thread::id> present_;
};

/// Returns how many workers a system has, `asked` at most. `call_all` receives a function, and calls it in as
/// many tasks as workers were asked for. The tasks wait for each other, and a thread that
/// runs two of them counts once.
template <class CallAll>
[[nodiscard]] int count_workers(int asked, CallAll call_all) {
  roll_call all(asked);
  call_all([&all] { all.answer(); });
  return all.count();
}

}  // namespace teff::bench
