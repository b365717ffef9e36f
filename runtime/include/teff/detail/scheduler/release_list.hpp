// The waiters for an event: the tasks that wait for a group of accesses, the continuations of an outcome.
// The model tests of these check this code on its interleavings.
#pragma once

#include <atomic>

namespace teff::detail {

// The waiters for an event that happens once. `Waiter` has a member `next`. `Atomic` is std::atomic, or the
// checker's stand-in.
template <class Waiter, template <class> class Atomic = std::atomic>
class release_list {
 public:
  // False: the event has happened, and the caller sees all work before it.
  [[nodiscard]] bool add(Waiter& waiter) noexcept {
    // Acquire: pairs with release().
    auto* newest = newest_.load(std::memory_order_acquire);
    do {
      if (newest == released()) return false;
      waiter.next = newest;
      // Release: the waiter, to the acquire in release(). Acquire, where it fails: as above.
    } while (!newest_.compare_exchange_strong(newest, &waiter, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
    return true;
  }
  // The event has happened. Returns the waiters, the newest first, linked by `next`.
  [[nodiscard]] Waiter* release() noexcept {
    // Release: the work before the event, to add(). Acquire: the waiters, from add().
    return newest_.exchange(released(), std::memory_order_acq_rel);
  }
  [[nodiscard]] bool is_released() const noexcept {
    return newest_.load(std::memory_order_acquire) == released();
  }

 private:
  // Never dereferenced.
  static Waiter* released() noexcept { return reinterpret_cast<Waiter*>(1); }
  Atomic<Waiter*> newest_{nullptr};
};

}  // namespace teff::detail
