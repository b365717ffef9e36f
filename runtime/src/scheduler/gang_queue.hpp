// The gangs of one runtime, of which the first is at work.
#pragma once

#include <teff/detail/scheduler/gang.hpp>

#include <mutex>

namespace teff::detail {

class gang_queue {
 public:
  void push(gang& added) noexcept {
    added.next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      (first_ == nullptr ? first_ : last_->next) = &added;
      last_ = &added;
      if (first_ != &added) return;
    }
    added.start(added);
  }
  void pop() noexcept {
    gang* following = nullptr;
    {
      const std::lock_guard lock(mutex_);
      following = first_ = first_->next;
    }
    if (following != nullptr) following->start(*following);
  }
  // Null: none.
  [[nodiscard]] const gang* at_work() noexcept {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  std::mutex mutex_;
  gang* first_ = nullptr;
  gang* last_ = nullptr;
};

}  // namespace teff::detail
