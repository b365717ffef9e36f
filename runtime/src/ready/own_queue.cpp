#include <teff/detail/ready/own_queue.hpp>

#include <algorithm>

namespace teff::detail {

void own_queue::push_by_priority(ready_node* task) {
  for (; first_ != nullptr; first_ = first_->next_in_line) add_to_heap(first_);
  last_ = nullptr;
  add_to_heap(task);
}

ready_node* own_queue::pop_by_priority() noexcept {
  std::ranges::pop_heap(heap_, later);
  ready_node* const task = heap_.back().task;
  heap_.pop_back();
  return task;
}

void own_queue::add_to_heap(ready_node* task) {
  heap_.push_back({task->priority, order_++, task});
  std::ranges::push_heap(heap_, later);
}

}  // namespace teff::detail
