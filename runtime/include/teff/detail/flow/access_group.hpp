// The lock-free pieces of the dependence system (src/flow/README.md, "Groups").
//
// tests/flow_model_test.cpp checks this very code.
#pragma once

#include <teff/detail/scheduler/release_list.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace teff::detail {

// Counts down events whose number is known only when the count is closed. The thread that closes it counts
// the events in a plain variable until then, so it does not touch the count.
template <template <class> class Atomic = std::atomic>
class open_count {
 public:
  static constexpr std::uint32_t most = (1U << 30) - 1;  // events

  open_count() noexcept = default;
  // Closed at once: there are `total` events.
  explicit open_count(std::uint32_t total) noexcept : left_{total} {}

  // One event. True: the count is closed, and this was the last.
  [[nodiscard]] bool end_one() noexcept {
    // Release: the caller's work before the event, to the last event. Acquire: the work before the others.
    return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  // There are `total` events in all. True: all have happened.
  [[nodiscard]] bool close(std::uint32_t total) noexcept {
    return left_.fetch_sub(open - total, std::memory_order_acq_rel) == open - total;
  }
  // All events have happened after it was closed: it counts further ones from now on.
  void open_again() noexcept { left_.store(open, std::memory_order_relaxed); }
  // Before it is closed: whether all of `total` events have happened. Acquire: pairs with end_one().
  [[nodiscard]] bool has_seen(std::uint32_t total) const noexcept {
    return left_.load(std::memory_order_acquire) == open - total;
  }

 private:
  static constexpr std::uint32_t open = most + 1;
  Atomic<std::uint32_t> left_{open};
};

// A lock whose holder hands it to the next waiter. No thread blocks.
template <class Waiter, template <class> class Atomic = std::atomic>
class handed_lock {
 public:
  // True: the caller holds it. False: hand_on() will return the waiter.
  [[nodiscard]] bool take(Waiter& waiter) noexcept {
    auto* newest = newest_.load(std::memory_order_relaxed);
    for (;;) {
      waiter.next = newest == held() ? nullptr : newest;
      auto* const wanted = newest == nullptr ? held() : &waiter;
      // Acquire: the work of the holder before, from hand_on(). Release: the waiter, to hand_on().
      if (newest_.compare_exchange_strong(newest, wanted, std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
        return wanted == held();
    }
  }
  // The holder. Returns the waiter that holds it from now on; null: it is free.
  [[nodiscard]] Waiter* hand_on() noexcept {
    if (queue_ == nullptr) {
      auto* newest = held();
      // Release: the holder's work, to take(). Acquire: the waiters, from take().
      if (newest_.compare_exchange_strong(newest, nullptr, std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
        return nullptr;
      for (auto* each = newest_.exchange(held(), std::memory_order_acq_rel); each != nullptr;)
        queue_ = std::exchange(each, std::exchange(each->next, queue_));
    }
    return std::exchange(queue_, queue_->next);
  }

 private:
  // Never dereferenced.
  static Waiter* held() noexcept { return reinterpret_cast<Waiter*>(1); }
  Atomic<Waiter*> newest_{nullptr};
  Waiter* queue_ = nullptr;  // touched by the holder: the waiters that have waited longest
};

// A member of a row whose turns come in order, when the member is done and the one before it has had its
// turn.
template <template <class> class Atomic = std::atomic>
class turn_taker {
 public:
  // The member is done. True: it is its turn.
  [[nodiscard]] bool done() noexcept {
    return state_.exchange(is_done, std::memory_order_acq_rel) == its_turn;
  }
  // The members before it have had their turns. True: the member is done, so it takes its turn now.
  [[nodiscard]] bool reach() noexcept {
    return state_.exchange(its_turn, std::memory_order_acq_rel) == is_done;
  }
  // After its turn. Returns the member that follows. Null: none follows yet, and follow() will return true.
  [[nodiscard]] turn_taker* pass() noexcept {
    auto* const next = next_.exchange(passed(), std::memory_order_acq_rel);
    return next == passed() ? nullptr : next;
  }
  // The thread that makes the row: `next` follows this member. True: this one has had its turn, and the
  // caller calls next.reach().
  [[nodiscard]] bool follow(turn_taker& next) noexcept {
    return next_.exchange(&next, std::memory_order_acq_rel) == passed();
  }

 private:
  // All exchanges acquire and release: the work of each member, to the members after it.
  static constexpr int is_done = 1;
  static constexpr int its_turn = 2;
  static turn_taker* passed() noexcept { return reinterpret_cast<turn_taker*>(1); }  // never dereferenced
  Atomic<int> state_{0};
  Atomic<turn_taker*> next_{nullptr};
};

}  // namespace teff::detail
