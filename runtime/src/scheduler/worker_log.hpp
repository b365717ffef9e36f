// The notes of a worker on itself, for counters and traces. The worker alone writes them, any thread reads
// them.
#pragma once

#include <teff/runtime.hpp>

#include "platform/ticks.hpp"
#include "trace/trace.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace teff::detail {

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

struct worker_log {
  explicit worker_log(trace_ring* to) noexcept : ring(to) {}

  void begin_search() noexcept { idle.start(); }
  void end_search() noexcept { note(event_kind::searching, idle.stop()); }
  void begin_park() noexcept {
    ++parks;
    parked.start();
  }
  void end_park() noexcept { note(event_kind::parked, parked.stop()); }
  // A guest's call, in the middle of a sleep of the worker's own thread.
  void begin_call() noexcept {
    const auto now = ticks::now();
    note(event_kind::parked, parked.stop(now));
    note(event_kind::searching, idle.stop(now));
  }
  void end_call() noexcept {
    idle.start();
    begin_park();
  }
  void woke_one() noexcept {
    ++wakes;
    instant(event_kind::wake);
  }
  void tell_capacity(double now) noexcept {
    if (now == capacity.load(std::memory_order_relaxed)) return;
    capacity.store(now, std::memory_order_relaxed);
    instant(event_kind::capacity, static_cast<unsigned>(std::lround(1000 * now)));
  }
  void instant(event_kind what, unsigned other = 0) noexcept {
    if (ring == nullptr) return;
    const auto now = ticks::now();
    ring->add({.began = now, .ended = now, .name = nullptr, .other = other, .what = what});
  }

  [[nodiscard]] counters read(double nanoseconds_per_tick) const noexcept {
    const auto now = ticks::now();
    const auto in_idle = idle.read(now);
    const auto in_park = std::min(parked.read(now), in_idle);
    const auto time = [=](std::uint64_t ticks) {
      return std::chrono::nanoseconds(
          static_cast<std::int64_t>(static_cast<double>(ticks) * nanoseconds_per_tick));
    };
    return {.jobs = jobs.read(),
            .steals = steals.read(),
            .failed_steals = failed_steals.read(),
            .exposures = exposures.read(),
            .shares = shares.read(),
            .parks = parks.read(),
            .wakes = wakes.read(),
            .searching = time(in_idle - in_park),
            .parked = time(in_park),
            .capacity = capacity.load(std::memory_order_relaxed),
            .spawned = ring == nullptr ? 0 : ring->spawned.load(std::memory_order_relaxed),
            .tasks = ring == nullptr ? 0 : ring->tasks.load(std::memory_order_relaxed)};
  }

  trace_ring* const ring;  // null unless the runtime is traced
  worker_counter jobs, steals, failed_steals, exposures, shares, parks, wakes;
  std::atomic<double> capacity{1};
  worker_stopwatch idle, parked;  // while a worker is parked, it is idle, too

 private:
  void note(event_kind what, std::uint64_t began) noexcept {
    if (ring != nullptr) record(*ring, what, nullptr, began);
  }
};

}  // namespace teff::detail
