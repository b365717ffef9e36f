// Who looks for work, who sleeps, and how a sleeper is woken: an eventcount with one futex word a worker.
//
// Protocol and proof sketch: parking.md. tests/parking_model_test.cpp and tests/timed_parking_model_test.cpp
// check this very code.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace teff::detail {

// What a sleeping worker may be woken for.
enum class wake_for : std::uint8_t {
  work,  // anything that any worker may do
  name,  // only what somebody wakes this worker for, by its index
};

// `System` gives atomic<T>, a type `time` with its greatest value `never`, wait(word, expected),
// wait_until(word, expected, time), which is false if the time has come, and wake(word): the futex, or the
// checker's stand-in.
template <class System>
class idle_gate {
 public:
  using time = typename System::time;

  explicit idle_gate(unsigned workers) : waiters_(workers) {}

  // ---- A worker that looks for work ----

  void start_search() noexcept { idle_.fetch_add(one_searcher, std::memory_order_seq_cst); }

  // Stops searching. True: it was the last to search, and others sleep: the caller must hand over (look for
  // public work and wake one of them if there is any, ask all workers to share first).
  [[nodiscard]] bool stop_search() noexcept {
    const auto before = idle_.fetch_sub(one_searcher, std::memory_order_seq_cst);
    return searchers(before) == 1 && sleepers(before) != 0;
  }

  // A searcher says that it is about to sleep. From here on it must look once more, then either
  // cancel_sleep() or sleep(). True, only for a worker that waits by name: it must hand over first.
  bool prepare_sleep(unsigned worker, wake_for what) noexcept {
    // seq_cst: the word before the counters, and both before the last look.
    waiters_[worker].state.store(asleep(what), std::memory_order_seq_cst);
    const auto before = idle_.fetch_add(sleepers_of(what) - one_searcher, std::memory_order_seq_cst);
    return what == wake_for::name && searchers(before) == 1 && sleepers(before) != 0;
  }

  // The last look found something: it is a searcher again.
  void cancel_sleep(unsigned worker, wake_for what) noexcept {
    auto expected = asleep(what);
    if (waiters_[worker].state.compare_exchange_strong(expected, awake, std::memory_order_seq_cst)) {
      idle_.fetch_add(one_searcher - sleepers_of(what), std::memory_order_seq_cst);
    } else {
      sleep(worker);  // somebody is waking it just now, and changes the counters for it
    }
  }

  // Sleeps until woken; it is a searcher then.
  void sleep(unsigned worker) noexcept {
    auto& state = waiters_[worker].state;
    for (;;) {
      // Acquire: pairs with the release in wake_from(): the counters have this worker as a searcher.
      const auto now = state.load(std::memory_order_acquire);
      if (now == woken) break;
      System::wait(state, now);
    }
    state.store(awake, std::memory_order_relaxed);
  }

  // ---- A time at which one sleeper has to be awake ----

  // As sleep(), but if no other sleeper wakes by `deadline`, this one does. Returns whether it woke for that.
  // A worker that waits by name does so in any case: others do not count on it.
  bool sleep_until(unsigned worker, wake_for what, time deadline) noexcept {
    if (what == wake_for::work && !promise(deadline)) {
      sleep(worker);
      return false;
    }
    const bool in_time = sleep_at_most_until(worker, what, deadline);
    // It is a searcher now. Nobody may count on its promise when it leaves the search: not it, if it is the
    // last and hands over, and not who sleeps later.
    if (what == wake_for::work) withdraw(deadline);
    return !in_time;
  }

  // Whether a sleeper wakes by then without being woken. Who hands over wakes one if none does.
  [[nodiscard]] bool somebody_wakes_by(time deadline) const noexcept {
    return promised_.load(std::memory_order_seq_cst) <= deadline;
  }

  // ---- Those who have something for a sleeper ----

  // Work has become public (before this, in the order of seq_cst): wakes one that sleeps for work, unless a
  // searcher is awake, who will find the work or look for it before it sleeps. Returns whether it woke one.
  bool notify_work(unsigned start) noexcept {
    const auto idle = idle_.load(std::memory_order_seq_cst);
    if (searchers(idle) != 0 || sleepers(idle) == 0) return false;
    return wake_any(start);
  }

  // Wakes one that sleeps for work: the first from `start` on, round the table.
  bool wake_any(unsigned start) noexcept {
    const auto count = static_cast<unsigned>(waiters_.size());
    for (unsigned i = 0; i < count; ++i) {
      if (wake_from((start + i) % count, asleep_for_work)) return true;
    }
    return false;
  }

  // Wakes this worker, if it sleeps: something it waits for has happened (before this, in seq_cst order).
  bool wake(unsigned worker) noexcept {
    const auto state = waiters_[worker].state.load(std::memory_order_seq_cst);
    return (state == asleep_for_work || state == asleep_by_name) && wake_from(worker, state);
  }

 private:
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t asleep_for_work = 1;  // or about to sleep
  static constexpr std::uint32_t asleep_by_name = 2;
  static constexpr std::uint32_t claimed = 3;  // a waker changes the counters; the sleeper waits for `woken`
  static constexpr std::uint32_t woken = 4;
  static constexpr std::uint32_t asleep(wake_for what) noexcept {
    return what == wake_for::work ? asleep_for_work : asleep_by_name;
  }

  // How many search (low half) and how many sleep for work (high half).
  static constexpr std::uint64_t one_searcher = 1;
  static constexpr std::uint64_t one_sleeper = std::uint64_t{1} << 32;
  static constexpr std::uint64_t searchers(std::uint64_t idle) noexcept { return idle & 0xffffffffU; }
  static constexpr std::uint64_t sleepers(std::uint64_t idle) noexcept { return idle >> 32; }
  static constexpr std::uint64_t sleepers_of(wake_for what) noexcept {
    return what == wake_for::work ? one_sleeper : 0;
  }

  // seq_cst, as the counters: after prepare_sleep() and before the sleep, so that who leaves the search later
  // sees it, and this worker sees what those who left it before have withdrawn.
  bool promise(time deadline) noexcept {
    auto promised = promised_.load(std::memory_order_seq_cst);
    while (deadline < promised) {
      if (promised_.compare_exchange_strong(promised, deadline, std::memory_order_seq_cst)) return true;
    }
    return false;
  }
  // An earlier promise of another's stays. One for the same time may go, whose worker wakes all the same.
  void withdraw(time deadline) noexcept {
    promised_.compare_exchange_strong(deadline, System::never, std::memory_order_seq_cst);
  }

  // False: it woke because of the time.
  bool sleep_at_most_until(unsigned worker, wake_for what, time deadline) noexcept {
    auto& state = waiters_[worker].state;
    // Acquire: as in sleep().
    while (state.load(std::memory_order_acquire) == asleep(what)) {
      if (!System::wait_until(state, asleep(what), deadline)) {
        cancel_sleep(worker, what);
        return false;
      }
    }
    sleep(worker);  // somebody has woken it, or is about to
    return true;
  }

  bool wake_from(unsigned worker, std::uint32_t asleep) noexcept {
    auto& state = waiters_[worker].state;
    auto expected = asleep;
    if (state.load(std::memory_order_relaxed) != asleep ||
        !state.compare_exchange_strong(expected, claimed, std::memory_order_seq_cst)) {
      return false;
    }
    // It counts as a searcher from now on, so that nobody wakes another for the same work; and before it gets
    // up, so that it can't leave the search before it was counted in.
    idle_.fetch_add(one_searcher - (asleep == asleep_for_work ? one_sleeper : 0), std::memory_order_seq_cst);
    state.store(woken, std::memory_order_release);
    System::wake(state);
    return true;
  }

  struct alignas(64) waiter {
    typename System::template atomic<std::uint32_t> state{awake};
  };
  alignas(64) typename System::template atomic<std::uint64_t> idle_{0};
  // The earliest time at which a sleeper wakes by itself. Touched only where somebody asks for one.
  typename System::template atomic<time> promised_{System::never};
  std::vector<waiter> waiters_;
};

}  // namespace teff::detail
