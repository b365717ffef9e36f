// How a process wakes a sleeper of another one: the word of a doorbell.
//
// | who | step |
// | --- | --- |
// | sleeper | listen(): the word says who may sleep, or that several may; a last look; sleep |
// | who brings something | store it (seq_cst); ring(): if the word says that somebody may, clear it, wake |
// | who is awake again | rise(): if the word says that nobody else may, clear it |
//
// All of them are seq_cst, on both sides: no process can have the other one's cores execute a fence
// (membarrier is the own process's). So of a store and the last look that follows listen(), the look sees the
// store, or ring() sees the word. A second sleeper that listens after the word has been rung, and before the
// first sleeps, may make the first one sleep on; but then its own last look sees what was brought.
//
// Who listens while another one may sleep changes the word: that one, if it has not gone to sleep yet, looks
// again. Who does not rise when something else has woken him leaves the word as it is: the next ring() wakes
// nobody, and until then nobody else may say that he is the only one.
// tests/rings_model_test.cpp checks this code on its interleavings.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

template <class System>
class bell {
 public:
  // Sleepers have numbers of their own, from this one on: which is that of the only one, where there is one.
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
