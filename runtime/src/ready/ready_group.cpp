#include <teff/detail/ready/ready_group.hpp>

#include <algorithm>
#include <cstddef>

namespace teff::detail {

// Of equal ones the one that only this worker may run: the other may be run by a thief meanwhile.
ready_node* ready_tasks::take_by_priority() noexcept {
  if (ready_node* const task = shared_heap_.take(own_.front())) {
    ++shared_taken_;
    return task;
  }
  return own_.pop();
}

ready_node* ready_group::steal(ready_tasks& thief) noexcept {
  thief.random_ ^= thief.random_ << 13;
  thief.random_ ^= thief.random_ >> 7;
  thief.random_ ^= thief.random_ << 17;
  const auto count = members_.size();
  for (std::size_t i = 0, at = thief.random_ % count; i < count; ++i, at = at + 1 == count ? 0 : at + 1) {
    if (ready_node* const task = members_[at]->steal()) {
      ++thief.shared_taken_;
      return task;
    }
  }
  return nullptr;
}

bool ready_group::sees_shared() const noexcept {
  return std::ranges::any_of(members_, [](const ready_tasks* each) { return each->sees_shared(); });
}

}  // namespace teff::detail
