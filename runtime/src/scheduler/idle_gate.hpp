// Who looks for work, who sleeps, and how a sleeper is woken: an eventcount with one seat a worker.
//
// Protocol and proof sketch: README.md, "Parking". tests/parking_model_test.cpp checks this very code.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace teff::detail {

// `System` gives atomic<T>, wait(word, expected) and wake(word): the futex, or the checker's stand-in.
template <class System>
class idle_gate {
 public:
  explicit idle_gate(unsigned workers) : seats_(workers) {}

  // ---- A worker that looks for work ----

  void start_search() noexcept { census_.fetch_add(one_searcher, std::memory_order_seq_cst); }

  // Stops searching. True: it was the last to search, and others sleep: the caller must hand over (look for
  // public work and wake one of them if there is any, ask all workers to share first).
  [[nodiscard]] bool stop_search() noexcept {
    const auto before = census_.fetch_sub(one_searcher, std::memory_order_seq_cst);
    return searchers(before) == 1 && sleepers(before) != 0;
  }

  // A searcher takes its seat. `open`: it may be woken for work; else only by name. From here on it must look
  // once more, then either get_up() or sleep(). Returns, for a closed seat, whether it must hand over first.
  bool sit_down(unsigned worker, bool open) noexcept {
    // seq_cst: the seat before the census, and both before the last look.
    seats_[worker].state.store(open ? seated_open : seated_closed, std::memory_order_seq_cst);
    const auto before = census_.fetch_add((open ? one_sleeper : 0) - one_searcher, std::memory_order_seq_cst);
    return !open && searchers(before) == 1 && sleepers(before) != 0;
  }

  // The last look found something: it is a searcher again.
  void get_up(unsigned worker, bool open) noexcept {
    auto expected = open ? seated_open : seated_closed;
    if (seats_[worker].state.compare_exchange_strong(expected, awake, std::memory_order_seq_cst)) {
      census_.fetch_add(one_searcher - (open ? one_sleeper : 0), std::memory_order_seq_cst);
    } else {
      sleep(worker);  // somebody is waking it just now, and changes the census for it
    }
  }

  // Sleeps until woken; it is a searcher then.
  void sleep(unsigned worker) noexcept {
    auto& state = seats_[worker].state;
    for (;;) {
      // Acquire: pairs with the release in wake_from(): the census counts this worker as a searcher.
      const auto now = state.load(std::memory_order_acquire);
      if (now == woken) break;
      System::wait(state, now);
    }
    state.store(awake, std::memory_order_relaxed);
  }

  // ---- Those who have something for a sleeper ----

  // Work has become public (before this, in the order of seq_cst): wakes one open seat, unless a searcher is
  // awake, who will find the work or look for it before it sleeps. Returns whether it woke one.
  bool notify_work(unsigned start) noexcept {
    const auto census = census_.load(std::memory_order_seq_cst);
    if (searchers(census) != 0 || sleepers(census) == 0) return false;
    return wake_any(start);
  }

  // Wakes one open seat, from `start` on round the table.
  bool wake_any(unsigned start) noexcept {
    const auto count = static_cast<unsigned>(seats_.size());
    for (unsigned i = 0; i < count; ++i) {
      if (wake_from((start + i) % count, seated_open)) return true;
    }
    return false;
  }

  // Wakes this worker, if it sleeps: something it waits for has happened (before this, in seq_cst order).
  bool wake(unsigned worker) noexcept {
    const auto state = seats_[worker].state.load(std::memory_order_seq_cst);
    return (state == seated_open || state == seated_closed) && wake_from(worker, state);
  }

 private:
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t seated_open = 1;
  static constexpr std::uint32_t seated_closed = 2;
  static constexpr std::uint32_t claimed = 3;  // a waker changes the census; the sleeper waits for `woken`
  static constexpr std::uint32_t woken = 4;

  // How many search (low half) and how many sleep on open seats (high half).
  static constexpr std::uint64_t one_searcher = 1;
  static constexpr std::uint64_t one_sleeper = std::uint64_t{1} << 32;
  static constexpr std::uint64_t searchers(std::uint64_t census) noexcept { return census & 0xffffffffU; }
  static constexpr std::uint64_t sleepers(std::uint64_t census) noexcept { return census >> 32; }

  bool wake_from(unsigned worker, std::uint32_t seated) noexcept {
    auto& state = seats_[worker].state;
    auto expected = seated;
    if (state.load(std::memory_order_relaxed) != seated ||
        !state.compare_exchange_strong(expected, claimed, std::memory_order_seq_cst)) {
      return false;
    }
    // It counts as a searcher from now on, so that nobody wakes another for the same work; and before it gets
    // up, so that it can't leave the search before it was counted in.
    census_.fetch_add(one_searcher - (seated == seated_open ? one_sleeper : 0), std::memory_order_seq_cst);
    state.store(woken, std::memory_order_release);
    System::wake(state);
    return true;
  }

  struct alignas(64) seat {
    typename System::template atomic<std::uint32_t> state{awake};
  };
  alignas(64) typename System::template atomic<std::uint64_t> census_{0};
  std::vector<seat> seats_;
};

}  // namespace teff::detail
