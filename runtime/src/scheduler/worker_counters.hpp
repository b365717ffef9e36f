// Counts of a worker, which it alone writes and any thread reads.
#pragma once

#include "platform/ticks.hpp"

#include <atomic>
#include <cstdint>

namespace teff::detail {

// Written by its worker only, read by anyone.
struct worker_counter {
  std::atomic<std::uint64_t> value{0};
  void operator+=(std::uint64_t more) noexcept {
    value.store(value.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void operator++() noexcept { *this += 1; }
  [[nodiscard]] std::uint64_t read() const noexcept { return value.load(std::memory_order_relaxed); }
};

// Time spent in a state, in ticks, the present stretch included. A reader may miss a stretch that ends just
// then.
struct worker_stopwatch {
  worker_counter total;
  std::atomic<std::uint64_t> since{0};  // 0: not in that state

  void start(std::uint64_t now = ticks::now()) noexcept { since.store(now, std::memory_order_relaxed); }
  // Returns when it was started.
  std::uint64_t stop(std::uint64_t now = ticks::now()) noexcept {
    const auto began = since.load(std::memory_order_relaxed);
    since.store(0, std::memory_order_relaxed);
    total += now - began;
    return began;
  }
  [[nodiscard]] bool is_running() const noexcept { return since.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] std::uint64_t read(std::uint64_t now) const noexcept {
    const auto before = total.read();
    const auto began = since.load(std::memory_order_relaxed);
    return before + (began == 0 || began > now ? 0 : now - began);
  }
};

}  // namespace teff::detail
