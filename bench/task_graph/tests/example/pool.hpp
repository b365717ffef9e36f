#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

/// A thread pool, as a system to be measured: its tasks can spawn tasks, and know no dependences.
class pool {
 public:
  /// Each thread calls `begin(worker)` before its first task.
  pool(int threads, const std::function<void(int worker)>& begin) {
    for (int worker = 0; worker < threads; ++worker)
      threads_.emplace_back([this, worker, begin](std::stop_token stop) {
        here() = worker;
        begin(worker);
        work(stop);
      });
  }

  void spawn(std::function<void()> task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push(std::move(task));
      ++unfinished_;
    }
    changed_.notify_all();
  }

  /// Returns when all tasks have ended.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return unfinished_ == 0; });
  }

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()); }
  /// The number of the pool's thread that calls it, from 0 on.
  [[nodiscard]] static int& here() {
    thread_local int worker = -1;
    return worker;
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop();
      lock.unlock();
      task();
      lock.lock();
      if (--unfinished_ == 0) changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::queue<std::function<void()>> tasks_;
  int unfinished_ = 0;
  std::vector<std::jthread> threads_;
};
