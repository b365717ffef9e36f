// Ready tasks that one worker alone may run.
#pragma once

#include <teff/detail/ready/ready_node.hpp>

#include <cstdint>
#include <vector>

namespace teff::detail {

// The one with the highest priority first; of equal ones, the one that has been ready for longest. Touched by
// its worker only.
class own_queue {
 public:
  // Throws std::bad_alloc.
  void push(ready_node* task) {
    if (task->priority == 0 && heap_.empty()) {
      task->next_in_line = nullptr;
      (last_ == nullptr ? first_ : last_->next_in_line) = task;
      last_ = task;
    } else {
      push_by_priority(task);
    }
  }
  // The first task, or null.
  [[nodiscard]] ready_node* pop() noexcept {
    if (first_ != nullptr) {
      ready_node* const task = first_;
      first_ = task->next_in_line;
      if (first_ == nullptr) last_ = nullptr;
      return task;
    }
    return heap_.empty() ? nullptr : pop_by_priority();
  }
  // What pop() would give.
  [[nodiscard]] const ready_node* front() const noexcept {
    if (first_ != nullptr) return first_;
    return heap_.empty() ? nullptr : heap_.front().task;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr && heap_.empty(); }

 private:
  struct entry {
    int priority;
    std::uint64_t order;
    ready_node* task;
  };
  static bool later(const entry& a, const entry& b) noexcept {
    return a.priority != b.priority ? a.priority < b.priority : a.order > b.order;
  }
  void push_by_priority(ready_node* task);
  [[nodiscard]] ready_node* pop_by_priority() noexcept;
  void add_to_heap(ready_node* task);

  // While all priorities are 0: a list, first in, first out. Else a heap.
  ready_node* first_ = nullptr;
  ready_node* last_ = nullptr;
  std::vector<entry> heap_;
  std::uint64_t order_ = 0;
};

}  // namespace teff::detail
