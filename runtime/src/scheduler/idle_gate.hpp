// Which workers look for work, which sleep, and how a sleeper is woken: an eventcount with one futex word for
// each thread that may sleep.
//
// Protocols and proof sketches: parking.md, guests.md. tests/parking_model_test.cpp,
// tests/timed_parking_model_test.cpp, tests/guests_model_test.cpp and tests/timed_guests_model_test.cpp check
// this very code.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace teff::detail {

// The reason for which a sleeping worker may be woken, besides by its index.
enum class wake_for : std::uint8_t {
  work,     // anything that any worker may do
  sources,  // work of sources
  name,     // none: another thread wakes this worker by its index
};

// Whether a guest has entered, and whether worker 0 had promised to wake by a time, which it has no more.
enum class entered : std::uint8_t { no, yes, with_promise };

// The seat of worker 0: a lock, whose holder is that worker (guests.md). The worker's own thread has it to
// begin with, and waits for it. A thread from outside only tries to take it. `System`: as idle_gate.
template <class System>
class seat {
 public:
  [[nodiscard]] bool try_take() noexcept {
    auto now = free;
    // Acquire: pairs with the release in leave(), after the last holder acted as the worker.
    return word_.compare_exchange_strong(now, taken, std::memory_order_acquire, std::memory_order_relaxed);
  }
  // Called by the worker's own thread only.
  void take() noexcept {
    while (!try_take()) {
      auto now = taken;
      if (!word_.compare_exchange_strong(now, awaited, std::memory_order_relaxed)) continue;
      // Acquire: as in try_take().
      while (word_.load(std::memory_order_acquire) == awaited) System::wait(word_, awaited);
      return;  // the last holder has passed it on
    }
  }
  void leave() noexcept {
    auto now = taken;
    if (word_.compare_exchange_strong(now, free, std::memory_order_release, std::memory_order_relaxed))
      return;
    word_.store(taken, std::memory_order_release);  // by the worker's own thread, from now on
    System::wake(word_);
  }

  // From the first to the second, a thread from outside would like to have it soon.
  void begin_to_want() noexcept { wanted_.fetch_add(1, std::memory_order_relaxed); }
  void end_to_want() noexcept { wanted_.fetch_sub(1, std::memory_order_relaxed); }
  // A hint.
  [[nodiscard]] bool is_wanted() const noexcept { return wanted_.load(std::memory_order_relaxed) != 0; }

 private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t awaited = 2;  // taken, and the worker's own thread waits for it

  typename System::template atomic<std::uint32_t> word_{taken};
  std::atomic<unsigned> wanted_{0};  // so many threads
};

// Workers have the words 0 to `workers` - 1. A guest, which is worker 0, has the last word.
//
// `System` gives atomic<T>, a type `time` with its greatest value `never`, a type `bells`, wait(word,
// expected), wait_until(word, expected, time, bells), which is false if the time has come or one of the bells
// was rung, and wake(word): the futex, or the checker's stand-in.
template <class System>
class idle_gate {
 public:
  using time = typename System::time;
  using bells = typename System::bells;

  explicit idle_gate(unsigned workers) : workers_(workers), sleepers_(workers + 1) {}

  [[nodiscard]] unsigned word_of_guest() const noexcept { return workers_; }

  // ---- A worker that looks for work ----

  void start_search() noexcept { idle_.fetch_add(one_searcher, std::memory_order_seq_cst); }

  // Stops searching. True: it was the last to search, and others sleep: the caller must hand over (look for
  // public work and wake one of them if there is any, ask all workers to share first).
  [[nodiscard]] bool stop_search() noexcept {
    const auto before = idle_.fetch_sub(one_searcher, std::memory_order_seq_cst);
    return searchers(before) == 1 && asleep(before) != 0;
  }

  // A searcher is about to sleep: looks a last time by `last_look()`, and calls `sleep()` if that is false.
  // Before the look, a worker that waits by name hands over by `hand_over()` if it was the last searcher.
  // Returns whether it has slept; it is a searcher again.
  template <class HandOver, class LastLook, class Sleep>
  bool park(unsigned word, wake_for what, HandOver hand_over, LastLook last_look, Sleep sleep) noexcept {
    if (prepare_sleep(word, what)) hand_over();
    if (last_look()) {
      cancel_sleep(word, what);
      return false;
    }
    sleep();
    return true;
  }

  // The first step of park(): a searcher says that it is about to sleep. From here on it must look once more,
  // then either cancel_sleep() or sleep(). True, only for a worker that does not sleep for work: it must hand
  // over first.
  bool prepare_sleep(unsigned word, wake_for what) noexcept {
    // seq_cst: the counters before the word, so that they never go below zero; and both before the last look.
    const auto before =
        idle_.fetch_add(counted_for(asleep_for(what)) - one_searcher, std::memory_order_seq_cst);
    sleepers_[word].state.store(asleep_for(what), std::memory_order_seq_cst);
    return what != wake_for::work && searchers(before) == 1 && asleep(before) != 0;
  }

  // The last look found something: it is a searcher again. False: another thread is waking it just now, and
  // this has waited for that.
  bool cancel_sleep(unsigned word, wake_for what) noexcept {
    auto expected = asleep_for(what);
    if (!sleepers_[word].state.compare_exchange_strong(expected, awake, std::memory_order_seq_cst)) {
      sleep(word);
      return false;
    }
    idle_.fetch_add(one_searcher - counted_for(asleep_for(what)), std::memory_order_seq_cst);
    return true;
  }

  // Sleeps until woken; it is a searcher then.
  void sleep(unsigned word) noexcept {
    auto& state = sleepers_[word].state;
    for (;;) {
      // Acquire: pairs with the release in wake_from(): the counters have this worker as a searcher.
      const auto now = state.load(std::memory_order_acquire);
      if (now == woken) break;
      System::wait(state, now);
    }
    state.store(awake, std::memory_order_relaxed);
    // Relaxed: how many wakes are on their way is a hint.
    idle_.fetch_sub(one_on_its_way, std::memory_order_relaxed);
  }

  // Sleeps until woken, or until `deadline` if no other sleeper wakes by then. It listens to the bells, too.
  // Returns whether the time or a bell woke it. A worker that does not sleep for work does so in
  // any case: others do not count on it. `off_seat`: worker 0's own thread, with nothing below on its stack,
  // leaves the seat meanwhile.
  bool sleep_until(unsigned word, wake_for what, time deadline, const bells& also = {},
                   bool off_seat = false) noexcept {
    const bool has_time = deadline != System::never && (what != wake_for::work || promise(deadline));
    const time until = has_time ? deadline : System::never;
    if (off_seat) {
      wakes_at_ = until;
      promises_ = has_time;
      seat_.leave();
    }
    const bool comes = has_time && reaches(until, word, also);
    if (!comes) sleep(word);
    if (off_seat) seat_.take();  // waits for a guest to leave
    const bool by_itself = comes && cancel_sleep(word, what);
    // It is a searcher now. Nobody may count on its promise when it ends its search: not the worker itself,
    // if it is the last and hands over, and not one that sleeps later.
    if (off_seat) {
      withdraw_promise();
    } else if (has_time && what == wake_for::work) {
      withdraw(until);
    }
    return by_itself;
  }

  // ---- A guest ----

  [[nodiscard]] detail::seat<System>& the_seat() noexcept { return seat_; }

  // If worker 0's own thread sleeps off the seat, the caller is worker 0 from now on, busy as if it ran a
  // task. `prepare()` makes it known to others: those that sleep later see that. With a promise: no sleeper
  // may wake in time any more, so the caller must hand that over.
  template <class Prepare>
  entered enter(Prepare prepare) noexcept {
    auto& state = sleepers_[0].state;
    if (!is_asleep(0) || !seat_.try_take()) return entered::no;
    auto expected = asleep_for_work;
    if (!state.compare_exchange_strong(expected, awake, std::memory_order_seq_cst)) {
      seat_.leave();
      return entered::no;
    }
    prepare();
    idle_.fetch_sub(one_sleeper, std::memory_order_seq_cst);
    return withdraw_promise() ? entered::with_promise : entered::yes;
  }

  // The guest has no work left that it brought. It must look once more, as a worker that has prepared to
  // sleep, then leave(). Returns whether all other workers search or sleep: then none of them publishes
  // anything that the guest might not see, without a fence on every core (guests.md).
  [[nodiscard]] bool prepare_leave() noexcept {
    // seq_cst: as in prepare_sleep().
    idle_.fetch_add(one_sleeper, std::memory_order_seq_cst);
    sleepers_[0].state.store(asleep_for_work, std::memory_order_seq_cst);
    return others_are_idle();
  }
  // Whether all other workers search or sleep by now, so that all have changed the counters since they did
  // something.
  [[nodiscard]] bool others_are_idle() const noexcept {
    const auto idle = idle_.load(std::memory_order_seq_cst);
    return searchers(idle) + asleep(idle) == workers_;
  }
  // Before the look: the worker's own thread, if it wakes by a time or a bell, may be relied on again.
  void promise_again() noexcept { promises_ = wakes_at_ != System::never && promise(wakes_at_); }
  // `calls`: the worker's own thread has something to do.
  void leave(bool calls) noexcept {
    if (calls) wake(0);
    seat_.leave();
  }

  // ---- Hints ----

  // Whether a worker, besides so many, looks for work, which takes a share without being woken.
  [[nodiscard]] bool anyone_searches(unsigned besides = 0) const noexcept {
    return searchers(idle_.load(std::memory_order_relaxed)) > besides;
  }
  // Whether the worker's own thread sleeps for work, or is about to.
  [[nodiscard]] bool is_asleep(unsigned worker) const noexcept {
    return sleepers_[worker].state.load(std::memory_order_relaxed) == asleep_for_work;
  }

  // ---- Threads that have something for a sleeper ----

  // Whether a sleeper wakes by then without being woken. A worker that hands over wakes one if none does.
  [[nodiscard]] bool somebody_wakes_by(time deadline) const noexcept {
    return promised_.load(std::memory_order_seq_cst) <= deadline;
  }

  // Work has become public (before this, in the order of seq_cst): wakes one that sleeps for work, unless a
  // searcher is awake, which will find the work or look for it before it sleeps. Returns whether it woke one.
  bool notify_work(unsigned after) noexcept { return needs_a_wake() && wake_any(after); }
  // Whether it would try to wake one. While those that were woken get up, more are: up to two for each that
  // is busy, so that many sleepers are up after a few times that.
  [[nodiscard]] bool needs_a_wake() const noexcept {
    const auto idle = idle_.load(std::memory_order_seq_cst);
    if (asleep(idle) == 0) return false;
    if (searchers(idle) == 0) return true;
    const auto busy = workers_ - searchers(idle) - asleep(idle);
    return searchers(idle) == on_their_way(idle) && on_their_way(idle) < 2 * busy;
  }
  // Whether to try to wake one after a release store. `fence()` is a full fence of the calling thread. The
  // caller executes it before it relies on a searcher, because a searcher that finds other work hands over
  // without a fence on every core.
  template <class Fence>
  [[nodiscard]] bool needs_a_wake(Fence fence) const noexcept {
    const auto idle = idle_.load(std::memory_order_seq_cst);
    if (asleep(idle) == 0) return false;
    if (searchers(idle) == 0) return true;
    fence();
    return needs_a_wake();
  }

  // Wakes one that sleeps for work: the first after this worker, round the table. Worker 0 comes last, since
  // a thread from outside may want its seat.
  bool wake_any(unsigned after) noexcept {
    for (unsigned i = 0; i + 1 < workers_; ++i) {
      if (wake_from(1 + (after + i) % (workers_ - 1), wake_for::work)) return true;
    }
    return wake_from(0, wake_for::work) || wake_from(word_of_guest(), wake_for::work);
  }

  // A source has work (before this, in the order of seq_cst): wakes those that sleep for sources alone.
  void notify_of_source() noexcept {
    if (limited(idle_.load(std::memory_order_seq_cst)) == 0) [[likely]]
      return;
    for (unsigned word = 0; word <= word_of_guest(); ++word) wake_from(word, wake_for::sources);
  }

  // Wakes this worker, if it sleeps: something it waits for has happened (before this, in seq_cst order).
  bool wake(unsigned worker) noexcept {
    return wake_from(worker, wake_for::name) || (worker == 0 && wake_from(word_of_guest(), wake_for::name));
  }

  // ---- Threads that have something that these sleepers may not do ----

  // Whether any worker, or every worker, sleeps and may not run all work, or is about to sleep so.
  // seq_cst: after the caller has stored its work, against the last look of such a worker.
  [[nodiscard]] bool anybody_is_limited() const noexcept {
    return limited(idle_.load(std::memory_order_seq_cst)) != 0;
  }
  [[nodiscard]] bool everybody_is_limited() const noexcept {
    return limited(idle_.load(std::memory_order_seq_cst)) == workers_;
  }

 private:
  // What a word says.
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t asleep_for_work = 1;  // or about to sleep, as the next two
  static constexpr std::uint32_t asleep_for_sources = 2;
  static constexpr std::uint32_t asleep_by_name = 3;
  static constexpr std::uint32_t claimed = 4;  // a waker changes the counters; the sleeper waits for `woken`
  static constexpr std::uint32_t woken = 5;
  static constexpr std::uint32_t asleep_for(wake_for what) noexcept {
    return asleep_for_work + static_cast<std::uint32_t>(what);
  }
  static constexpr bool may_wake(std::uint32_t state, wake_for what) noexcept {
    return state == asleep_for(what) ||
           (what == wake_for::name && (state == asleep_for_work || state == asleep_for_sources));
  }

  // The counters: the searchers, those of them that were woken and have not got up, the sleepers for work,
  // and the other sleepers.
  static constexpr unsigned bits_each = 16;
  static constexpr std::uint64_t one_searcher = 1;
  static constexpr std::uint64_t one_on_its_way = std::uint64_t{1} << bits_each;
  static constexpr std::uint64_t one_sleeper = std::uint64_t{1} << 2 * bits_each;
  static constexpr std::uint64_t one_limited = std::uint64_t{1} << 3 * bits_each;
  static constexpr std::uint64_t counted(std::uint64_t idle, unsigned place) noexcept {
    return idle >> place * bits_each & ((std::uint64_t{1} << bits_each) - 1);
  }
  static constexpr std::uint64_t searchers(std::uint64_t idle) noexcept { return counted(idle, 0); }
  static constexpr std::uint64_t on_their_way(std::uint64_t idle) noexcept { return counted(idle, 1); }
  static constexpr std::uint64_t asleep(std::uint64_t idle) noexcept { return counted(idle, 2); }
  static constexpr std::uint64_t limited(std::uint64_t idle) noexcept { return counted(idle, 3); }
  static constexpr std::uint64_t counted_for(std::uint32_t state) noexcept {
    return state == asleep_for_work ? one_sleeper : one_limited;
  }

  // seq_cst, as the counters: after prepare_sleep() and before the sleep. So a worker that ends its search
  // later sees the promise, and this worker sees the promises that earlier ones have withdrawn.
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
  // By the holder of the seat. Returns whether there was one.
  bool withdraw_promise() noexcept {
    if (!promises_) return false;
    promises_ = false;
    withdraw(wakes_at_);
    return true;
  }

  // Sleeps until the time comes or a bell is rung, and says true; or until it is woken, and says false.
  bool reaches(time deadline, unsigned word, const bells& also) noexcept {
    auto& state = sleepers_[word].state;
    for (;;) {
      const auto now = state.load(std::memory_order_relaxed);
      if (now == woken) return false;
      if (!System::wait_until(state, now, deadline, also)) return true;
    }
  }

  bool wake_from(unsigned word, wake_for what) noexcept {
    auto& state = sleepers_[word].state;
    // seq_cst: after what it is woken for.
    auto now = state.load(std::memory_order_seq_cst);
    do {
      if (!may_wake(now, what)) return false;
    } while (!state.compare_exchange_strong(now, claimed, std::memory_order_seq_cst));
    // It counts as a searcher from now on, so that nobody wakes another for the same work; and before it gets
    // up, so that it can't end its search before it was counted in.
    idle_.fetch_add(one_searcher + one_on_its_way - counted_for(now), std::memory_order_seq_cst);
    state.store(woken, std::memory_order_release);
    System::wake(state);
    return true;
  }

  struct alignas(64) sleeper {
    typename System::template atomic<std::uint32_t> state{awake};
  };

  const unsigned workers_;
  alignas(64) typename System::template atomic<std::uint64_t> idle_{0};
  // The earliest time at which a sleeper wakes by itself. Touched only where somebody asks for one.
  typename System::template atomic<time> promised_{System::never};
  detail::seat<System> seat_;
  // Of the holder of the seat: until when the worker's own thread sleeps, and whether its promise stands.
  time wakes_at_ = System::never;
  bool promises_ = false;
  std::vector<sleeper> sleepers_;
};

}  // namespace teff::detail
