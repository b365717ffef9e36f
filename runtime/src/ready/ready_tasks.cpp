#include <teff/detail/ready/ready_tasks.hpp>

#include <algorithm>

namespace teff::detail {

template class ready_deque<runnable>;

void own_queue::push_by_priority(runnable* task) {
  for (; first_ != nullptr; first_ = first_->next_in_line) add_to_heap(first_);
  last_ = nullptr;
  add_to_heap(task);
}

runnable* own_queue::pop_by_priority() noexcept {
  std::ranges::pop_heap(heap_, later);
  runnable* const task = heap_.back().task;
  heap_.pop_back();
  return task;
}

void own_queue::add_to_heap(runnable* task) {
  heap_.push_back({task->priority, order_++, task});
  std::ranges::push_heap(heap_, later);
}

void shared_heap::make_room() {
  const std::lock_guard lock(mutex_);
  if (heap_.size() == heap_.capacity()) heap_.reserve(std::max<std::size_t>(2 * heap_.size(), 16));
}

void shared_heap::push(runnable* task) {
  const std::lock_guard lock(mutex_);
  heap_.push_back({task->priority, order_++, task});
  std::ranges::push_heap(heap_, later);
  size_.store(heap_.size(), std::memory_order_release);  // pairs with empty()
}

runnable* shared_heap::take(const runnable* rival) noexcept {
  if (empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (heap_.empty() || (rival != nullptr && heap_.front().priority <= rival->priority)) return nullptr;
  std::ranges::pop_heap(heap_, later);
  runnable* const task = heap_.back().task;
  heap_.pop_back();
  size_.store(heap_.size(), std::memory_order_release);
  return task;
}

bool shared_heap::has_above(int priority) noexcept {
  if (empty()) return false;
  const std::lock_guard lock(mutex_);
  return !heap_.empty() && heap_.front().priority > priority;
}

// Of equal ones the one that only this worker may run: the other may be run by a thief meanwhile.
runnable* ready_tasks::take_by_priority() noexcept {
  if (runnable* const task = shared_heap_.take(own_.front())) {
    ++shared_taken_;
    return task;
  }
  return own_.pop();
}

}  // namespace teff::detail
