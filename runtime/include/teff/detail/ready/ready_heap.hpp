// Ready tasks of one worker by their priority, where thieves find them: what ready_deque is for graphs whose
// tasks have none.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace teff::detail {

// Behind a lock: whose tasks are worth an order are large enough for it. `Node` has: int priority.
template <class Node>
class ready_heap {
 public:
  // Throws std::bad_alloc.
  void push(Node* task) {
    const std::lock_guard lock(mutex_);
    heap_.push_back({task->priority, order_++, task});
    std::ranges::push_heap(heap_, later);
    say_size();
  }

  // The task with the highest priority; of equal ones the newest, whose inputs are still near. Null if there
  // is none, or none above `rival`, where that is not null.
  [[nodiscard]] Node* take(const Node* rival = nullptr) noexcept {
    if (empty()) return nullptr;
    const std::lock_guard lock(mutex_);
    if (heap_.empty() || (rival != nullptr && heap_.front().priority <= rival->priority)) return nullptr;
    std::ranges::pop_heap(heap_, later);
    Node* const task = heap_.back().task;
    heap_.pop_back();
    say_size();
    return task;
  }

  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_acquire) == 0; }

 private:
  struct entry {
    int priority;
    std::uint64_t order;
    Node* task;
  };
  static bool later(const entry& a, const entry& b) noexcept {
    return a.priority != b.priority ? a.priority < b.priority : a.order < b.order;
  }
  void say_size() noexcept {
    // Release: orders nothing by itself; the lock does. The sleeper's last look is ordered by fences.
    size_.store(heap_.size(), std::memory_order_release);
  }

  std::mutex mutex_;
  std::vector<entry> heap_;
  std::uint64_t order_ = 0;
  std::atomic<std::size_t> size_{0};
};

}  // namespace teff::detail
