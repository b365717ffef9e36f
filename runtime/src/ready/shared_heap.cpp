#include <teff/detail/ready/shared_heap.hpp>

#include <algorithm>

namespace teff::detail {

void shared_heap::make_room() {
  const std::lock_guard lock(mutex_);
  if (heap_.size() == heap_.capacity()) heap_.reserve(std::max<std::size_t>(2 * heap_.size(), 16));
}

void shared_heap::push(ready_node* task) {
  const std::lock_guard lock(mutex_);
  heap_.push_back({task->priority, order_++, task});
  std::ranges::push_heap(heap_, later);
  size_.store(heap_.size(), std::memory_order_release);  // pairs with empty()
}

ready_node* shared_heap::take(const ready_node* rival) noexcept {
  if (empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (heap_.empty() || (rival != nullptr && heap_.front().priority <= rival->priority)) return nullptr;
  std::ranges::pop_heap(heap_, later);
  ready_node* const task = heap_.back().task;
  heap_.pop_back();
  size_.store(heap_.size(), std::memory_order_release);
  return task;
}

bool shared_heap::has_above(int priority) noexcept {
  if (empty()) return false;
  const std::lock_guard lock(mutex_);
  return !heap_.empty() && heap_.front().priority > priority;
}

}  // namespace teff::detail
