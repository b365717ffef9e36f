// The list of a worker while a replay lasts: which task is the next one, and which worker may go on with it
// (src/replay/README.md, "A list that another worker runs").
//
// tests/replay_model_test.cpp checks this very code.
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

// The next task of a list. Iterations count from 0, and the list has ended when all are done.
struct replay_position {
  std::uint64_t iteration = 0;
  std::uint32_t task = 0;

  friend bool operator==(const replay_position&, const replay_position&) = default;
};

// A worker holds a list while it runs tasks of the list, and leaves it when it waits or gives its core away.
// Workers have the numbers of their lists here.
template <template <class> class Atomic = std::atomic>
class alignas(128) replay_list {
 public:
  static constexpr std::uint32_t any_worker = ~0U - 2;

  // Worker `own` may begin. Before the replay.
  void reset(std::uint32_t own) noexcept {
    iteration_.store(0, std::memory_order_relaxed);
    task_.store(0, std::memory_order_relaxed);
    state_.store(own, std::memory_order_relaxed);
  }

  // Exact for the holder. A hint for other workers: its two parts may be of different times.
  [[nodiscard]] replay_position next() const noexcept {
    return {iteration_.load(std::memory_order_relaxed), task_.load(std::memory_order_relaxed)};
  }

  // A hint.
  [[nodiscard]] bool is_held() const noexcept { return state_.load(std::memory_order_relaxed) > any_worker; }
  // Whether the list was left to this worker. A hint.
  [[nodiscard]] bool is_left_to(std::uint32_t worker) const noexcept {
    const auto left_to = state_.load(std::memory_order_relaxed);
    return left_to == worker || left_to == any_worker;
  }

  // The worker holds the list if this returns true. `from_others`: even if the list was left to another
  // worker.
  [[nodiscard]] bool take(std::uint32_t worker, bool from_others) noexcept {
    auto left_to = state_.load(std::memory_order_relaxed);
    if (left_to > any_worker || (left_to != worker && left_to != any_worker && !from_others)) return false;
    // Acquire: pairs with leave().
    return state_.compare_exchange_strong(left_to, held, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  // By the holder: `to` may take the list at once. Other workers are to give that one some time before.
  void leave(replay_position next, std::uint32_t to) noexcept {
    iteration_.store(next.iteration, std::memory_order_relaxed);
    task_.store(next.task, std::memory_order_relaxed);
    // Release: all that the holder did in tasks of the list, to the acquire in take().
    state_.store(to, std::memory_order_release);
  }

  // By the list's own worker, which is about to wait for the holder.
  void want() noexcept {
    auto before = held;
    if (state_.load(std::memory_order_relaxed) == held)
      state_.compare_exchange_strong(before, wanted, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  // Asked by the holder.
  [[nodiscard]] bool is_wanted() const noexcept { return state_.load(std::memory_order_relaxed) == wanted; }

 private:
  static constexpr std::uint32_t held = ~0U;
  static constexpr std::uint32_t wanted = ~0U - 1;  // held, and the list's own worker waits for the holder

  // Held, wanted, or the worker to which the list was left.
  Atomic<std::uint32_t> state_{held};
  // Written by the holder, when it leaves.
  Atomic<std::uint32_t> task_{0};
  Atomic<std::uint64_t> iteration_{0};
};

}  // namespace teff::detail
