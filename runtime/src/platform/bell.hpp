// How a process wakes a sleeper of another one: the word of a doorbell.
//
// | who | step |
// | --- | --- |
// | sleeper | listen(): the word says that somebody may sleep; a last look; sleep as long as it says so |
// | who brings something | store it (seq_cst); ring(): if the word says so, not any more, and wake all |
//
// All of them are seq_cst, on both sides: no process can have the other one's cores execute a fence
// (membarrier is the own process's). So of a store and the last look that follows listen(), the look sees the
// store, or ring() sees the word. A second sleeper that listens after the word has been rung, and before the
// first sleeps, may make the first one sleep on; but then its own last look sees what was brought.
//
// The word stays as it is when a sleeper is woken by something else: the next ring() wakes nobody.
// tests/rings_model_test.cpp checks this code on its interleavings.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

template <class System>
class bell {
 public:
  static constexpr std::uint32_t quiet = 1;  // somebody may sleep

  void listen() noexcept { word_.store(quiet, std::memory_order_seq_cst); }
  // The only sleeper is awake, and need not be woken.
  void rise() noexcept { word_.store(0, std::memory_order_relaxed); }
  void ring() noexcept {
    // The load alone where nobody sleeps, since the line stays with all of its readers.
    if (word_.load(std::memory_order_seq_cst) != quiet) return;
    if (word_.exchange(0, std::memory_order_seq_cst) == quiet) System::wake_all(word_);
  }
  [[nodiscard]] const auto& word() const noexcept { return word_; }

 private:
  typename System::template atomic<std::uint32_t> word_{0};
};

}  // namespace teff::detail
