// Who runs a request: a worker that took it from the queue, or the thread that waits for it.
// tests/request_model_test.cpp checks this code on its interleavings.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

// Relaxed, all of it: one thread runs the request, and has it through the queue's lock or from the future.
// `Atomic` is std::atomic, or the checker's stand-in.
template <template <class> class Atomic = std::atomic>
class request_claim {
 public:
  // Nobody has claimed or taken it. A hint.
  [[nodiscard]] bool is_open() const noexcept { return state_.load(std::memory_order_relaxed) == open; }

  // ---- Who waits for it, one thread at a time ----

  // From here on nobody else runs it. False: somebody does.
  [[nodiscard]] bool claim() noexcept {
    std::uint32_t now = open;
    return state_.compare_exchange_strong(now, claimed, std::memory_order_relaxed);
  }
  // Whether it may be in the queue still.
  [[nodiscard]] bool may_be_queued() const noexcept {
    return state_.load(std::memory_order_relaxed) == claimed;
  }
  // The thread has taken it out of the queue.
  void was_withdrawn() noexcept { state_.store(passed, std::memory_order_relaxed); }
  // Others may run it again. False: it is in the queue no more, and still claimed; the thread is to call
  // is_put_back(), to put it back, and to try again.
  [[nodiscard]] bool give_up() noexcept {
    std::uint32_t now = claimed;
    return state_.compare_exchange_strong(now, open, std::memory_order_relaxed);
  }
  void is_put_back() noexcept { state_.store(claimed, std::memory_order_relaxed); }

  // ---- Who took it from the queue ----

  // Whether it is to run it. If not, that is left to the one who has claimed it.
  [[nodiscard]] bool take() noexcept {
    std::uint32_t now = open;
    while (!state_.compare_exchange_weak(now, now == open ? taken : passed, std::memory_order_relaxed,
                                         std::memory_order_relaxed))
      continue;
    return now == open;
  }

 private:
  static constexpr std::uint32_t open = 0;     // in the queue, or just taken out
  static constexpr std::uint32_t claimed = 1;  // by who waits for it
  static constexpr std::uint32_t passed = 2;   // the same, and it is in the queue no more
  static constexpr std::uint32_t taken = 3;    // by who took it out

  Atomic<std::uint32_t> state_{open};
};

}  // namespace teff::detail
