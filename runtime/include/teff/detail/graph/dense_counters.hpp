// Counts for keys that are numbered: a counter for each of them, in an array.
//
// src/graph/README.md. tests/graph_model_test.cpp checks this very code.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace teff::detail {

// A counter is 0 before a key's first fulfilment and after its task has ended; meanwhile it is one more than
// the fulfilments that are missing. So there is nothing to set up, and any worker may count any key.
template <template <class> class Atomic = std::atomic>
class dense_counters {
 public:
  // Throws std::bad_alloc.
  explicit dense_counters(std::size_t keys) : size_(keys), counters_(new Atomic<std::uint32_t>[keys] {}) {}

  enum class outcome : std::uint8_t {
    waits,          // the first of several fulfilments
    counted,        // neither the first nor the last
    ready,          // the last of several
    ready_at_once,  // the first and only one
    over,           // the task was ready before
  };

  // Counts a fulfilment. The first one asks `needed()` how many there will be; if that throws, nothing has
  // been counted. `alone`: no other thread counts.
  template <class Needed>
  outcome count(std::size_t key, Needed needed, bool alone) {
    auto& counter = counters_[key];
    std::uint32_t seen = counter.load(std::memory_order_relaxed);
    if (seen == 0) {
      const auto all = static_cast<std::uint32_t>(std::max(needed(), 1));
      // Release: all that came before this fulfilment, to the fulfilment that makes the task ready. Acquire:
      // pairs with the release in end(): all that the key's task before has done.
      if (alone) {
        counter.store(all, std::memory_order_relaxed);
      } else {
        counter.compare_exchange_strong(seen, all, std::memory_order_acq_rel, std::memory_order_relaxed);
      }
      if (seen == 0) return all == 1 ? outcome::ready_at_once : outcome::waits;
    }
    if (alone) {
      counter.store(seen - 1, std::memory_order_relaxed);
    } else {
      // Release: as above. Acquire: all that came before the fulfilments counted so far; their changes of the
      // counter are one release sequence.
      seen = counter.fetch_sub(1, std::memory_order_acq_rel);
    }
    // 0: the task has ended since the load above, which no program that keeps the contract brings about.
    return seen > 2 ? outcome::counted : seen == 2 ? outcome::ready : outcome::over;
  }

  // The task of a key has run: from here on the key counts as never fulfilled.
  void end(std::size_t key) noexcept { counters_[key].store(0, std::memory_order_release); }

  // Calls each(key, missing) for all keys that wait for more fulfilments, and forgets all keys. No other
  // thread may use the counters meanwhile.
  template <class Each>
  void clear(Each each) {
    for (std::size_t key = 0; key < size_; ++key) {
      const auto left = counters_[key].load(std::memory_order_relaxed);
      if (left == 0) continue;
      counters_[key].store(0, std::memory_order_relaxed);
      if (left > 1) each(key, left - 1);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  const std::size_t size_;
  const std::unique_ptr<Atomic<std::uint32_t>[]> counters_;
};

}  // namespace teff::detail
