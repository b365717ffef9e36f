// Ready tasks of one worker that thieves may take, by priority: the counterpart of ready_deque for tasks
// without priorities.
#pragma once

#include <teff/detail/ready/ready_node.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace teff::detail {

// It takes a lock: tasks whose order matters are large enough for that.
class shared_heap {
 public:
  // Makes room for one more task of this thread. Each thread that pushes makes room first. Throws
  // std::bad_alloc.
  void make_room();
  // Throws std::bad_alloc.
  void push(ready_node* task);

  // The task with the highest priority; of equal ones the newest, whose inputs are still near. Null if there
  // is none, or none above `rival`, where that is not null.
  [[nodiscard]] ready_node* take(const ready_node* rival = nullptr) noexcept;

  // Whether take() would give one above this priority.
  [[nodiscard]] bool has_above(int priority) noexcept;

  // Acquire: orders nothing by itself; the lock does. The sleeper's last look is ordered by fences.
  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_acquire) == 0; }

 private:
  struct entry {
    int priority;
    std::uint64_t order;
    ready_node* task;
  };
  static bool later(const entry& a, const entry& b) noexcept {
    return a.priority != b.priority ? a.priority < b.priority : a.order < b.order;
  }

  std::mutex mutex_;
  std::vector<entry> heap_;
  std::uint64_t order_ = 0;
  std::atomic<std::size_t> size_{0};
};

}  // namespace teff::detail
