// How a process wakes a sleeper of another one: the word of a doorbell.
//
// - A sleeper listens: the word then names the sleeper, or says that several may sleep. The sleeper looks a
//   last time, and sleeps.
// - A bringer stores its item and rings: if the word says that a sleeper may sleep, it clears the word and
//   wakes the sleepers.
// - A sleeper that is awake again rises: if the word names it, it clears the word.
//
// All steps are seq_cst, because membarrier reaches only the threads of one process. So the last look sees
// the bringer's store, or the bringer sees the word. A second sleeper may listen after the ringing and before
// the first sleeper sleeps. Then the first may sleep on, but the last look of the second sees the item.
//
// A sleeper that listens while another may sleep changes the word. The other one, if it does not sleep yet,
// looks again. A sleeper that does not rise leaves its name in the word: the next ring() wakes in vain.
// tests/rings_model_test.cpp checks this code on its interleavings.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

template <class System>
class bell {
 public:
  // The number of the first sleeper. Each sleeper has another number.
  static constexpr std::uint32_t first_sleeper = 2;

  // Returns what the word says now.
  std::uint32_t listen(std::uint32_t sleeper = first_sleeper) noexcept {
    auto now = word_.load(std::memory_order_relaxed);
    for (;;) {
      const auto then = now == nobody || now == sleeper ? sleeper : several;
      if (word_.compare_exchange_strong(now, then, std::memory_order_seq_cst)) return then;
    }
  }
  void rise(std::uint32_t sleeper = first_sleeper) noexcept {
    word_.compare_exchange_strong(sleeper, nobody, std::memory_order_relaxed);
  }
  void ring() noexcept {
    // The load alone where nobody sleeps, since the line stays with all of its readers.
    if (word_.load(std::memory_order_seq_cst) == nobody) return;
    if (word_.exchange(nobody, std::memory_order_seq_cst) != nobody) System::wake_all(word_);
  }
  [[nodiscard]] const auto& word() const noexcept { return word_; }

 private:
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t several = 1;

  typename System::template atomic<std::uint32_t> word_{nobody};
};

}  // namespace teff::detail
