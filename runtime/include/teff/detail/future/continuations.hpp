// The continuations of an outcome: called when it is there. tests/request_model_test.cpp checks this code on
// its interleavings.
#pragma once

#include <atomic>

namespace teff::detail {

// Called once when an outcome is there, on the thread that brought it. Intrusive: kept alive until then.
struct continuation {
  void (*run)(continuation&) noexcept;
  continuation* next = nullptr;
};

// A stack of them, until the outcome is there. `Atomic` is std::atomic, or the checker's stand-in.
template <template <class> class Atomic = std::atomic>
class continuation_stack {
 public:
  // Acquire: pairs with end(): the value.
  [[nodiscard]] bool ended() const noexcept { return first_.load(std::memory_order_acquire) == over(); }

  // Has `then` called when the outcome is there. False: it is there already, and nothing has been done.
  [[nodiscard]] bool push(continuation& then) noexcept {
    auto* first = first_.load(std::memory_order_acquire);
    do {
      if (first == over()) return false;
      then.next = first;
      // Release: `then`, to the acquire in end(). Acquire: as in ended().
    } while (
        !first_.compare_exchange_weak(first, &then, std::memory_order_acq_rel, std::memory_order_acquire));
    return true;
  }

  // The outcome is there: calls the continuations, oldest first.
  void end() noexcept {
    // Release: the value, to ended() and push(). Acquire: the continuations, from push().
    auto* each = first_.exchange(over(), std::memory_order_acq_rel);
    continuation* oldest = nullptr;
    while (each != nullptr) {
      auto* const older = each->next;
      each->next = oldest;
      oldest = each;
      each = older;
    }
    while (oldest != nullptr) {
      auto* const next = oldest->next;  // it may be gone once it has run
      oldest->run(*oldest);
      oldest = next;
    }
  }

 private:
  // Never dereferenced: the value of `first_` when the outcome is there.
  static continuation* over() noexcept { return reinterpret_cast<continuation*>(1); }

  Atomic<continuation*> first_{nullptr};
};

}  // namespace teff::detail
