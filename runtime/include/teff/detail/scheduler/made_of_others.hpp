// A thing that a thread may wait for, and that is made of others: the search for waits that could never end
// follows these (src/scheduler/blocked_activities.hpp).
#pragma once

#include <teff/detail/scheduler/spin_lock.hpp>

#include <mutex>
#include <vector>

namespace teff::detail {

class made_of_others;

// Of what something is made.
struct causes {
  bool one_suffices = false;            // else it needs all
  std::vector<made_of_others*> each{};  // each held, until the caller drops it
};

class made_of_others {
 public:
  [[nodiscard]] virtual bool is_there() const noexcept = 0;
  // Others that have to be there before it; none if a task brings it, or it is there. Throws std::bad_alloc.
  [[nodiscard]] virtual causes made_of() = 0;
  // Keeps it alive, if somebody does; no longer.
  virtual void hold() noexcept = 0;
  virtual void drop() noexcept = 0;

 protected:
  ~made_of_others() = default;
};

// The one other that something is made of for a time. The owner of that other keeps it alive from begin()
// to end(), while any thread may ask.
class only_cause {
 public:
  void begin(made_of_others& other) noexcept { set(&other); }
  void end() noexcept { set(nullptr); }
  [[nodiscard]] causes get() {
    causes found{.each = {}};
    found.each.reserve(1);
    const std::lock_guard lock(lock_);
    if (other_ == nullptr) return found;
    other_->hold();
    found.each.push_back(other_);
    return found;
  }

 private:
  void set(made_of_others* other) noexcept {
    const std::lock_guard lock(lock_);
    other_ = other;
  }

  spin_lock lock_;
  made_of_others* other_ = nullptr;
};

}  // namespace teff::detail
