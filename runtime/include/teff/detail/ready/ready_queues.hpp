// Queues of ready tasks in the order of their priorities (src/ready/README.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace teff::detail {

enum class runnable_kind : std::uint8_t {
  task,   // a ready task
  end,    // the end of a task, which nothing holds any more
  offer,  // a worker may take part in a worksharing task
  key,    // of a graph: a dependence of a task has been fulfilled, and is yet to be counted
};

// A worker of a source takes it out of a queue, and runs it as its kind says.
struct runnable {
  // A constructor, so that fields of a derived task may lie in the padding.
  explicit runnable(runnable_kind of_kind = runnable_kind::task) noexcept : kind(of_kind) {}

  runnable* next_in_line;  // the queue that holds it uses this; else free for its source
  int priority;            // the highest runs first; of a task or an offer
  const runnable_kind kind;
};

struct ready_entry {
  int priority;
  std::uint64_t order;
  runnable* task;
};

// Ready tasks that one worker alone may run. The one with the highest priority first; of equal ones, the one
// that has been ready for longest. Used by one thread at a time.
class own_queue {
 public:
  // Throws std::bad_alloc.
  void push(runnable* task) {
    if (task->priority == 0 && heap_.empty()) {
      task->next_in_line = nullptr;
      (last_ == nullptr ? first_ : last_->next_in_line) = task;
      last_ = task;
    } else {
      push_by_priority(task);
    }
  }
  // The first task, or null.
  [[nodiscard]] runnable* pop() noexcept {
    if (first_ != nullptr) {
      runnable* const task = first_;
      first_ = task->next_in_line;
      if (first_ == nullptr) last_ = nullptr;
      return task;
    }
    return heap_.empty() ? nullptr : pop_by_priority();
  }
  // What pop() would give.
  [[nodiscard]] const runnable* front() const noexcept {
    if (first_ != nullptr) return first_;
    return heap_.empty() ? nullptr : heap_.front().task;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr && heap_.empty(); }

 private:
  static bool later(const ready_entry& a, const ready_entry& b) noexcept {
    return a.priority != b.priority ? a.priority < b.priority : a.order > b.order;
  }
  void push_by_priority(runnable* task);
  [[nodiscard]] runnable* pop_by_priority() noexcept;
  void add_to_heap(runnable* task);

  // While all priorities are 0: a list, first in, first out. Else a heap.
  runnable* first_ = nullptr;
  runnable* last_ = nullptr;
  std::vector<ready_entry> heap_;
  std::uint64_t order_ = 0;
};

// Ready tasks of one worker that thieves may take, by priority: the counterpart of ready_deque for tasks
// without priorities. It takes a lock: tasks whose order matters are large enough for that.
class shared_heap {
 public:
  // Makes room for one more task of this thread. Each thread that pushes makes room first. Throws
  // std::bad_alloc.
  void make_room();
  // Throws std::bad_alloc.
  void push(runnable* task);

  // The task with the highest priority; of equal ones the newest, whose inputs are still near. Null if there
  // is none, or none above `rival`, where that is not null.
  [[nodiscard]] runnable* take(const runnable* rival = nullptr) noexcept;

  // Whether take() would give one above this priority.
  [[nodiscard]] bool has_above(int priority) noexcept;

  // Acquire: orders nothing by itself; the lock does. The sleeper's last look is ordered by fences.
  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_acquire) == 0; }

 private:
  static bool later(const ready_entry& a, const ready_entry& b) noexcept {
    return a.priority != b.priority ? a.priority < b.priority : a.order < b.order;
  }

  std::mutex mutex_;
  std::vector<ready_entry> heap_;
  std::uint64_t order_ = 0;
  std::atomic<std::size_t> size_{0};
};

}  // namespace teff::detail
