// Who looks for work, who sleeps, and how a sleeper is woken: an eventcount with one futex word a worker.
//
// Protocols and proof sketches: parking.md, guests.md. tests/parking_model_test.cpp,
// tests/timed_parking_model_test.cpp and tests/guests_model_test.cpp check this very code.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace teff::detail {

// What a sleeping worker may be woken for.
enum class wake_for : std::uint8_t {
  work,           // anything that any worker may do
  work_or_guest,  // the same, of a worker that a guest may man meanwhile
  name,           // only what somebody wakes this worker for, by its index
};

// Why a worker's own thread is the worker again.
enum class woken_by : std::uint8_t { another, guest_that_left, time_or_bell };

// Whether a guest has entered, and as what.
enum class entered : std::uint8_t { no, busy, as_searcher };

// `System` gives atomic<T>, a type `time` with its greatest value `never`, a type `bells`, wait(word,
// expected), wait_until(word, expected, time, bells), which is false if the time has come or one of the bells
// was rung, and wake(word): the futex, or the checker's stand-in.
template <class System>
class idle_gate {
 public:
  using time = typename System::time;
  using bells = typename System::bells;

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

  // The same for a worker that a guest has asked for, to be vacant soon. False: none asks any more.
  [[nodiscard]] bool prepare_to_give_way(unsigned worker) noexcept {
    auto expected = asked_for;
    // seq_cst: as in prepare_sleep(). Of this and stop_asking(), the later one sees the other's value.
    if (!waiters_[worker].state.compare_exchange_strong(expected, to_be_vacant, std::memory_order_seq_cst))
      return false;
    idle_.fetch_add(one_sleeper - one_searcher, std::memory_order_seq_cst);
    return true;
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
    got_up();
  }

  // ---- A worker that a guest may man, since its thread has nothing below on its stack ----

  // It searches. A guest that finds no worker vacant may ask for this one.
  void offer(unsigned worker) noexcept { waiters_[worker].state.store(offered, std::memory_order_relaxed); }
  void withdraw_offer(unsigned worker) noexcept {
    waiters_[worker].state.store(awake, std::memory_order_relaxed);
  }
  // Whether it searches at the top of its stack. A hint.
  [[nodiscard]] bool is_offered(unsigned worker) const noexcept {
    return waiters_[worker].state.load(std::memory_order_relaxed) == offered;
  }
  // Whether a guest has asked: the worker should prepare to sleep soon.
  [[nodiscard]] bool is_asked_for(unsigned worker) const noexcept {
    return waiters_[worker].state.load(std::memory_order_relaxed) == asked_for;
  }

  // As sleep(), but guests may man the worker until this returns, from now on. wait(home, expected) sleeps,
  // and may return for no reason. With a deadline it is as sleep_until() as well.
  template <class Wait>
  woken_by sleep_vacant(unsigned worker, Wait wait, time deadline = System::never,
                        const bells& also = {}) noexcept {
    auto& mine = waiters_[worker];
    mine.wakes_at = promise(deadline) ? deadline : System::never;
    mine.promises = mine.wakes_at != System::never;
    if (mine.promises) mine.home.store(sleeps_in_time, std::memory_order_relaxed);
    auto expected = to_be_vacant;
    // Release (seq_cst): what this thread did as the worker, to the acquire of enter() and wake_from().
    if (!mine.state.compare_exchange_strong(expected, vacant, std::memory_order_seq_cst)) {
      mine.home.store(not_called, std::memory_order_relaxed);
      sleep(worker);  // somebody is waking it just now
      withdraw_promise(mine);
      return woken_by::another;
    }
    std::uint32_t answered = not_called;
    while ((answered = answer_call(mine)) == not_called) {
      if (mine.home.load(std::memory_order_relaxed) == sleeps_in_time) {
        if (!System::wait_until(mine.home, sleeps_in_time, deadline, also) && take_back(mine))
          return woken_by::time_or_bell;
        continue;
      }
      auto none = not_called;
      // Relaxed: it only says that a caller has to wake this thread.
      if (mine.home.compare_exchange_strong(none, sleeps, std::memory_order_relaxed) || none == sleeps)
        wait(mine.home, sleeps);
    }
    withdraw_promise(mine);
    if (answered != called) return woken_by::guest_that_left;
    got_up();
    return woken_by::another;
  }

  // ---- A guest ----

  [[nodiscard]] bool is_vacant(unsigned worker) const noexcept {
    return waiters_[worker].state.load(std::memory_order_relaxed) == vacant;
  }
  // If the worker is vacant, the caller is that worker from now on, busy as if it ran a task; or a searcher,
  // who has nothing more to say of when he wakes. `prepare()` makes it known to others: those that sleep
  // later see that.
  template <class Prepare>
  entered enter(unsigned worker, Prepare prepare) noexcept {
    auto& mine = waiters_[worker];
    auto expected = vacant;
    if (!is_vacant(worker) ||
        !mine.state.compare_exchange_strong(expected, awake, std::memory_order_seq_cst)) {
      return entered::no;
    }
    prepare();
    if (!mine.promises) {
      idle_.fetch_sub(one_sleeper, std::memory_order_seq_cst);
      return entered::busy;
    }
    idle_.fetch_add(one_searcher - one_sleeper, std::memory_order_seq_cst);
    withdraw_promise(mine);
    return entered::as_searcher;
  }
  // If the worker was woken from vacant, and its own thread has not got up, the caller is that worker in its
  // place, a searcher. `prepare` as above.
  template <class Prepare>
  entered enter_called(unsigned worker, Prepare prepare) noexcept {
    const auto answered = answer_call(waiters_[worker]);
    if (answered == not_called) return entered::no;
    if (answered == called) got_up();
    prepare();
    withdraw_promise(waiters_[worker]);
    return entered::as_searcher;
  }

  // Asks for a worker that searches. Returns whether it is about to become vacant.
  bool ask_for(unsigned worker) noexcept {
    auto& state = waiters_[worker].state;
    auto now = state.load(std::memory_order_relaxed);
    if (now == offered && state.compare_exchange_strong(now, asked_for, std::memory_order_relaxed))
      return true;
    return now == asked_for || now == to_be_vacant;
  }
  // The guest gives up, and the worker may have left to it what it has seen: so the worker is to look again.
  void stop_asking(unsigned worker) noexcept {
    auto expected = asked_for;
    // seq_cst: a worker that leaves something to guests and has not begun to give way does not do so any
    // more.
    if (!waiters_[worker].state.compare_exchange_strong(expected, offered, std::memory_order_seq_cst)) {
      wake(worker);
    }
  }
  // After ask_for(): whether it has found something else to do.
  [[nodiscard]] bool refuses(unsigned worker) const noexcept {
    const auto state = waiters_[worker].state.load(std::memory_order_relaxed);
    return state != asked_for && state != to_be_vacant && state != vacant;
  }

  // The guest has no work left that it brought. It must look once more, as who has prepared to sleep; then it
  // leaves, or has the worker's own thread go on. Returns whether no other worker does anything: then none of
  // them publishes anything that it might not see, without a fence on every core (guests.md).
  [[nodiscard]] bool prepare_leave(unsigned worker) noexcept {
    // seq_cst: as in prepare_sleep().
    waiters_[worker].state.store(to_be_vacant, std::memory_order_seq_cst);
    return all_idle(idle_.fetch_add(one_sleeper, std::memory_order_seq_cst) + one_sleeper);
  }
  // The same, asked again: whether all have changed the counters since they did something.
  [[nodiscard]] bool others_are_idle() const noexcept {
    return all_idle(idle_.load(std::memory_order_seq_cst));
  }
  // Before the look: if its own thread still sleeps until a time, it may be relied on again.
  void promise_again(unsigned worker) noexcept {
    auto& mine = waiters_[worker];
    mine.promises = mine.home.load(std::memory_order_relaxed) == sleeps_in_time && promise(mine.wakes_at);
  }
  // The look found nothing. False: somebody has woken the worker, which is a searcher now, and still the
  // guest's.
  [[nodiscard]] bool leave(unsigned worker) noexcept {
    auto& mine = waiters_[worker];
    const bool promises = mine.promises;
    auto expected = to_be_vacant;
    // Release (seq_cst): as in sleep_vacant().
    if (!mine.state.compare_exchange_strong(expected, vacant, std::memory_order_seq_cst)) {
      sleep(worker);  // somebody is waking it just now
      withdraw_promise(mine);
      return false;
    }
    // seq_cst: its own thread may have got up meanwhile, and found a guest in; then it sleeps for good. If it
    // gets up after this load, it finds the worker vacant: take_back() changes `home` first.
    if (promises && mine.home.load(std::memory_order_seq_cst) != sleeps_in_time) wake(worker);
    return true;
  }
  // The look found something: it is a searcher.
  void cancel_leave(unsigned worker) noexcept {
    cancel_sleep(worker, wake_for::work_or_guest);
    withdraw_promise(waiters_[worker]);
  }
  // The guest leaves. The worker, a searcher, is its own thread's again, or that of a guest who is quicker.
  void call_home(unsigned worker) noexcept { call(waiters_[worker], called_by_guest); }

  // ---- A time at which one sleeper has to be awake ----

  // As sleep(), but if no other sleeper wakes by `deadline`, this one does; until then it listens to the
  // bells. Returns whether it woke for one of these reasons. A worker that waits by name does so in any case:
  // others do not count on it.
  bool sleep_until(unsigned worker, wake_for what, time deadline, const bells& also = {}) noexcept {
    if (what == wake_for::work && !promise(deadline)) {
      sleep(worker);
      return false;
    }
    const bool in_time = sleep_at_most_until(worker, what, deadline, also);
    // It is a searcher now. Nobody may count on its promise when it leaves the search: not it, if it is the
    // last and hands over, and not who sleeps later.
    if (what == wake_for::work) withdraw(deadline);
    return !in_time;
  }

  // Whether somebody looks for work, who takes a share without being woken. A hint.
  [[nodiscard]] bool anyone_searches() const noexcept {
    return searchers(idle_.load(std::memory_order_relaxed)) != 0;
  }

  // Whether somebody sleeps for work. A hint.
  [[nodiscard]] bool anyone_sleeps() const noexcept {
    return sleepers(idle_.load(std::memory_order_relaxed)) != 0;
  }

  // Whether a sleeper wakes by then without being woken. Who hands over wakes one if none does.
  [[nodiscard]] bool somebody_wakes_by(time deadline) const noexcept {
    return promised_.load(std::memory_order_seq_cst) <= deadline;
  }

  // ---- Those who have something for a sleeper ----

  // Work has become public (before this, in the order of seq_cst): wakes one that sleeps for work, unless a
  // searcher is awake, who will find the work or look for it before it sleeps. Returns whether it woke one.
  bool notify_work(unsigned start) noexcept { return needs_a_wake() && wake_any(start); }
  // Whether it would try to wake one. While those that were woken get up, more are: up to two for each that
  // is busy, so that many sleepers are up after a few times that.
  [[nodiscard]] bool needs_a_wake() const noexcept {
    const auto idle = idle_.load(std::memory_order_seq_cst);
    if (sleepers(idle) == 0) return false;
    if (searchers(idle) == 0) return true;
    const auto busy = waiters_.size() - searchers(idle) - sleepers(idle);
    return searchers(idle) == on_their_way(idle) && on_their_way(idle) < 2 * busy;
  }

  // Wakes one that sleeps for work: the first from `start` on, round the table.
  bool wake_any(unsigned start) noexcept {
    const auto count = static_cast<unsigned>(waiters_.size());
    for (unsigned i = 0; i < count; ++i) {
      if (wake_from((start + i) % count, wake_for::work)) return true;
    }
    return false;
  }

  // Wakes this worker, if it sleeps: something it waits for has happened (before this, in seq_cst order).
  bool wake(unsigned worker) noexcept { return wake_from(worker, wake_for::name); }

 private:
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t asleep_for_work = 1;  // or about to sleep
  static constexpr std::uint32_t asleep_by_name = 2;
  static constexpr std::uint32_t claimed = 3;  // a waker changes the counters; the sleeper waits for `woken`
  static constexpr std::uint32_t woken = 4;
  // As asleep_for_work, but its thread sleeps on `home`, and a guest may enter.
  static constexpr std::uint32_t vacant = 5;
  static constexpr std::uint32_t offered = 6;       // awake, with nothing below it on its stack
  static constexpr std::uint32_t asked_for = 7;     // the same, and a guest waits for it
  static constexpr std::uint32_t to_be_vacant = 8;  // asleep_for_work, but soon vacant
  static constexpr std::uint32_t asleep(wake_for what) noexcept {
    if (what == wake_for::name) return asleep_by_name;
    return what == wake_for::work ? asleep_for_work : to_be_vacant;
  }
  static constexpr bool is_asleep(std::uint32_t state, wake_for what) noexcept {
    return state == asleep_for_work || state == to_be_vacant || state == vacant ||
           (state == asleep_by_name && what == wake_for::name);
  }

  // The words of `home`.
  static constexpr std::uint32_t not_called = 0;
  static constexpr std::uint32_t called = 1;  // one thread answers: from then on it mans the worker
  static constexpr std::uint32_t sleeps = 2;  // not called, and its own thread sleeps, or is about to
  static constexpr std::uint32_t called_by_guest = 4;
  static constexpr std::uint32_t sleeps_in_time = 3;  // the same, until a time or a bell

  // How many search, how many of these were woken and have not got up, and how many sleep for work.
  static constexpr unsigned bits_each = 21;
  static constexpr std::uint64_t one_searcher = 1;
  static constexpr std::uint64_t one_on_its_way = std::uint64_t{1} << bits_each;
  static constexpr std::uint64_t one_sleeper = std::uint64_t{1} << 2 * bits_each;
  static constexpr std::uint64_t counted(std::uint64_t idle, unsigned place) noexcept {
    return idle >> place * bits_each & ((std::uint64_t{1} << bits_each) - 1);
  }
  static constexpr std::uint64_t searchers(std::uint64_t idle) noexcept { return counted(idle, 0); }
  static constexpr std::uint64_t on_their_way(std::uint64_t idle) noexcept { return counted(idle, 1); }
  static constexpr std::uint64_t sleepers(std::uint64_t idle) noexcept { return counted(idle, 2); }
  [[nodiscard]] bool all_idle(std::uint64_t idle) const noexcept {
    return searchers(idle) + sleepers(idle) == waiters_.size();
  }
  static constexpr std::uint64_t sleepers_of(wake_for what) noexcept {
    return what == wake_for::name ? 0 : one_sleeper;
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

  struct alignas(64) waiter {
    typename System::template atomic<std::uint32_t> state{awake};
    // On which its own thread sleeps while it is vacant or a guest has it.
    typename System::template atomic<std::uint32_t> home{not_called};
    // Of who mans the worker: whether a promise of its own thread's stands, and until when that sleeps.
    bool promises = false;
    time wakes_at = System::never;
  };

  // By who mans the worker, a searcher.
  void withdraw_promise(waiter& mine) noexcept {
    if (mine.promises) withdraw(mine.wakes_at);
    mine.promises = false;
  }

  // A worker's own thread, which the time or a bell has woken. False: somebody else mans the worker, or has
  // called it.
  bool take_back(waiter& mine) noexcept {
    auto timed = sleeps_in_time;
    auto expected = vacant;
    // seq_cst: `home` before the state, against leave().
    if (!mine.home.compare_exchange_strong(timed, not_called, std::memory_order_seq_cst) ||
        !mine.state.compare_exchange_strong(expected, awake, std::memory_order_seq_cst)) {
      return false;
    }
    idle_.fetch_add(one_searcher - one_sleeper, std::memory_order_seq_cst);
    withdraw_promise(mine);
    return true;
  }

  // False: it woke because of the time, or of a bell.
  bool sleep_at_most_until(unsigned worker, wake_for what, time deadline, const bells& also) noexcept {
    auto& state = waiters_[worker].state;
    // Acquire: as in sleep().
    while (state.load(std::memory_order_acquire) == asleep(what)) {
      if (!System::wait_until(state, asleep(what), deadline, also)) {
        cancel_sleep(worker, what);
        return false;
      }
    }
    sleep(worker);  // somebody has woken it, or is about to
    return true;
  }

  // Not called: the worker was not, or another thread has answered.
  static std::uint32_t answer_call(waiter& mine) noexcept {
    auto call = mine.home.load(std::memory_order_relaxed);
    // Acquire: pairs with the release in call(): what guests did as the worker.
    if ((call == called || call == called_by_guest) &&
        mine.home.compare_exchange_strong(call, not_called, std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
      return call;
    }
    return not_called;
  }
  static void call(waiter& mine, std::uint32_t how) noexcept {
    // Release: pairs with the acquire in answer_call(). A thread that does not sleep looks before it does.
    const auto before = mine.home.exchange(how, std::memory_order_release);
    if (before == sleeps || before == sleeps_in_time) System::wake(mine.home);
  }

  // Relaxed: how many wakes are on their way is a hint.
  void got_up() noexcept { idle_.fetch_sub(one_on_its_way, std::memory_order_relaxed); }

  bool wake_from(unsigned worker, wake_for what) noexcept {
    auto& state = waiters_[worker].state;
    // seq_cst: after what it is woken for.
    auto now = state.load(std::memory_order_seq_cst);
    for (;;) {
      if (!is_asleep(now, what)) return false;
      // In vain if it becomes vacant just now.
      if (state.compare_exchange_strong(now, now == vacant ? awake : claimed, std::memory_order_seq_cst))
        break;
    }
    // It counts as a searcher from now on, so that nobody wakes another for the same work; and before it gets
    // up, so that it can't leave the search before it was counted in.
    idle_.fetch_add(one_searcher + one_on_its_way - (now == asleep_by_name ? 0 : one_sleeper),
                    std::memory_order_seq_cst);
    if (now == vacant) {
      call(waiters_[worker], called);
    } else {
      state.store(woken, std::memory_order_release);
      System::wake(state);
    }
    return true;
  }

  alignas(64) typename System::template atomic<std::uint64_t> idle_{0};
  // The earliest time at which a sleeper wakes by itself. Touched only where somebody asks for one.
  typename System::template atomic<time> promised_{System::never};
  std::vector<waiter> waiters_;
};

}  // namespace teff::detail
