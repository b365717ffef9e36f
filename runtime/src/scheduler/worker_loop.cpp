// The loop of a worker that waits: it runs what it finds, spins for a while, parks; and how it wakes others
// (README.md, parking.md).
#include <teff/detail/scheduler/gang.hpp>

#include "platform/relax.hpp"
#include "scheduler/runtime_registry.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/within_activity.hpp"
#include "scheduler/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace teff::detail {

namespace {

// A worker that waits for a source runs tasks of other sources meanwhile, and each of these may wait in its
// turn, on top of it. From so many activities on, it leaves them to other workers: its stack is finite.
constexpr std::size_t most_activities_to_run_anything = 16;

}  // namespace

void leave_child_process() noexcept {
  std::fputs("libteff: a task that has called fork() ends in the child process, where nothing waits for it\n",
             stderr);
  ::_exit(EXIT_FAILURE);
}

void help_until(bool (*done)(const void*), const void* what, source* awaited) noexcept {
  worker::help_until(done, what, awaited);
}

bool run_here(source& each) noexcept {
  const bool ran = worker::current_or_leave().run_source(each, may_run::sources);
  static_cast<void>(worker::current_or_leave());
  return ran;
}

void block_until(bool (*done)(const void*), const void* what) noexcept {
  worker::block_until(done, what);
}

void sleep_by(void (*wait)(void*) noexcept, void* what) noexcept {
  worker::sleep_by(wait, what);
}

void worker::work_until_stopped() noexcept {
  work_until([this] { return all_.stopping(); }, may_run::everything, {}, waits::at_top);
}

void worker::wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept {
  const traced_span span(event_kind::waiting, nullptr);
  // seq_cst: the last look before sleeping, against complete(); acquire: what the tasks did.
  work_until([&pending] { return pending.load(std::memory_order_seq_cst) == 0; }, may_run_now(), {});
}

void worker::help_until(bool (*done)(const void*), const void* what, source* awaited) noexcept {
  auto& me = current_or_leave();
  const bool deep =
      me.activities_.depth() >= most_activities_to_run_anything || !me.has_room_for_foreign_tasks();
  // What it waits for may be work that only this worker can do.
  const auto limit =
      deep && awaited != nullptr ? may_run::own_work : std::max(me.may_run_now(), may_run::sources);
  me.work_until([=] { return done(what); }, limit, {.from = awaited});
}

void worker::help_while_there_is_work(bool (*done)(const void*), const void* what, source& from) noexcept {
  using clock = std::chrono::steady_clock;
  auto& me = *current();
  const auto patience = std::min<clock::duration>(me.all_.settings().spin, std::chrono::milliseconds(1));
  constexpr unsigned looks_between_clock_readings = 16;
  auto deadline = clock::time_point::max();
  for (unsigned look = 1; !done(what); ++look) {
    if (me.run_source(from, may_run::sources)) {
      static_cast<void>(current_or_leave());
      look = 0;
      deadline = clock::time_point::max();
    } else if (look % looks_between_clock_readings != 0) {
      relax();
    } else {
      const auto now = clock::now();
      if (deadline == clock::time_point::max()) deadline = now + patience;
      if (now >= deadline) break;
      if (me.all_.crowded()) std::this_thread::yield();
    }
  }
  me.stolen_.tell();
}

void worker::run_own_jobs_until(bool (*done)(const void*), const void* what) noexcept {
  auto& me = *current();
  const within_activity here(me, {.of = &me});
  struct awaited {
    worker& me;
    bool (*done)(const void*);
    const void* what;
  };
  const awaited awaited{me, done, what};
  bool searching = false;
  do {
    while (me.run_job_of(me.inbox_, searching)) continue;
    me.stolen_.tell();
    // Where threads share cores, whoever is to bring a job needs this one.
    if (me.all_.crowded()) continue;
    me.spin_until(
        [](const void* given) {
          const auto& each = *static_cast<const struct awaited*>(given);
          return !each.me.inbox_.empty() || each.done(each.what);
        },
        &awaited);
  } while (!me.inbox_.empty());
}

void worker::wait_for_thief(task_slot& slot) noexcept {
  const traced_span span(event_kind::waiting, nullptr);
  // seq_cst: the last look before sleeping, against run_stolen(); acquire: the result.
  work_until(
      [&slot] {
        const auto state = slot.state.load(std::memory_order_seq_cst);
        return state == slot_state::ended || state == slot_state::failed;
      },
      may_run_now(), {.slot = &slot});
}

// It does not count as a searcher, who would be expected to find what others publish, but for the moment
// between its waking up and its preparing to sleep.
void worker::block_until(bool (*done)(const void*), const void* what) noexcept {
  auto& me = current_or_leave();
  auto& gate = me.all_.gate();
  me.stolen_.tell();
  for (;;) {
    me.spin_until(done, what);
    if (done(what)) return;
    gate.start_search();
    if (gate.prepare_sleep(me.index_, wake_for::name)) me.hand_over();
    // From here on, whoever makes it true sees that this worker sleeps, or is seen by this look.
    me.all_.fences().everywhere();
    if (done(what)) {
      gate.cancel_sleep(me.index_, wake_for::name);
    } else {
      me.all_.requests().begin_sleep();
      me.sleep(wake_for::name, futex::never, waits::within_task);
      me.all_.requests().end_sleep();
    }
    me.leave_search();
  }
}

void worker::sleep_by(void (*wait)(void*) noexcept, void* what) noexcept {
  auto& me = current_or_leave();
  me.stolen_.tell();
  me.all_.requests().begin_sleep();
  ++me.parks_;
  me.parked_.start();
  wait(what);
  const auto began = me.parked_.stop();
  if (me.ring_ != nullptr) record(*me.ring_, event_kind::parked, nullptr, began);
  me.all_.requests().end_sleep();
}

// Gives up after the time that a worker looks for work before it parks.
void worker::spin_until(bool (*done)(const void*), const void* what) noexcept {
  constexpr unsigned looks_between_clock_readings = 64;
  auto deadline = std::chrono::steady_clock::time_point::max();
  for (unsigned look = 1; !done(what); ++look) {
    relax();
    if (look % looks_between_clock_readings != 0) continue;
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return;
    if (look == looks_between_clock_readings) deadline = now + all_.settings().spin;
    if (all_.crowded()) std::this_thread::yield();
  }
}

worker& worker::current_or_leave() noexcept {
  if (current_ == nullptr) [[unlikely]]
    leave_child_process();
  return *current_;
}

bool worker::has_room_for_foreign_tasks() const noexcept {
  return static_cast<const std::byte*>(__builtin_frame_address(0)) > stack_middle_;
}

may_run worker::may_run_now() const noexcept {
  if (!has_room_for_foreign_tasks()) return may_run::awaited_thief;
  return activities_.any() ? may_run::sources : may_run::everything;
}

// The loop of a worker that has nothing of its own to do until `done()`: it runs what it finds within
// `limit`, else it spins for a while, else it sleeps. It looks at `awaited` first: of a stolen slot, it
// steals from the thief (leapfrogging).
template <class Done>
void worker::work_until(Done done, may_run limit, awaited_work awaited, waits where) noexcept {
  bool searching = false;
  constexpr unsigned looks_between_clock_readings = 16;
  constexpr unsigned looks_between_exposures = 128;
  constexpr unsigned looks_before_search = 8;
  unsigned fruitless = 0;
  // Requests that it sees and may not run have some time to be taken by another worker.
  constexpr std::chrono::microseconds request_patience{20};
  auto deadline = std::chrono::steady_clock::time_point::max();
  auto lends_at = deadline;
  for (unsigned look = 0; !done(); ++look) {
    if (run_something(limit, awaited, searching)) {
      static_cast<void>(current_or_leave());
      deadline = std::chrono::steady_clock::time_point::max();
      fruitless = 0;
      continue;
    }
    stolen_.tell();
    if (!searching) {
      // A source's next work is often on its way from another core: for as long as a cache line takes, the
      // idle counters, which all workers share, are left alone.
      if (!all_.sources().empty() && ++fruitless < looks_before_search) {
        relax();
        continue;
      }
      start_search(searching);
      if (where == waits::at_top) all_.gate().offer(index_);
      look = 0;
    }
    if (where == waits::at_top && all_.gate().is_asked_for(index_)) {
      park(done, limit, awaited, where);
      look = 0;
      continue;
    }
    if (look % looks_between_clock_readings != 0) {
      relax();
      continue;
    }
    ask_everyone();
    const auto now = std::chrono::steady_clock::now();
    if (limit != may_run::awaited_thief) poll_sources(now);
    if (limit != may_run::everything) {
      if (all_.requests().empty()) {
        lends_at = std::chrono::steady_clock::time_point::max();
      } else if (now >= lends_at) {
        all_.requests().lend();
      } else {
        lends_at = std::min(lends_at, now + request_patience);
      }
    }
    if (look == 0) {
      deadline = now + all_.settings().spin;
    } else if (now >= deadline) {
      const bool for_poll = park(done, limit, awaited, where);
      look = 0;
      // Who woke to poll has nothing to expect but what it finds at once.
      deadline = std::chrono::steady_clock::now();
      if (!for_poll) deadline += all_.settings().spin;
    } else if (limit == may_run::everything && look % looks_between_exposures == 0) {
      expose_anything();
    } else if (all_.crowded()) {
      std::this_thread::yield();
    }
  }
  stolen_.tell();
  stop_search(searching);
}

// Returns whether it woke to poll a source, and has done so.
template <class Done>
bool worker::park(Done& done, may_run limit, awaited_work awaited, waits where) noexcept {
  auto& gate = all_.gate();
  const bool for_guest = where == waits::at_top && gate.is_asked_for(index_);
  const auto wakes = limit == may_run::everything ? wake_for::work : wake_for::name;
  const bool for_sources = limit == may_run::sources || limit == may_run::own_work;
  if (for_sources) all_.begin_sleep_for_sources(sleeps_for_sources_);
  if (limit != may_run::everything) all_.requests().begin_sleep();
  if (gate.prepare_sleep(index_, wakes)) hand_over();
  bool for_poll = false;
  doorbells bells;
  const bool listens = limit == may_run::awaited_thief || listen(bells);
  if (!listens || finds_reason_to_stay_awake(done, limit, awaited, for_guest)) {
    gate.cancel_sleep(index_, wakes);
  } else {
    for_poll = sleep(wakes, limit == may_run::awaited_thief ? futex::never : next_poll(), where, bells);
  }
  if (where == waits::at_top) gate.offer(index_);
  if (limit != may_run::everything) all_.requests().end_sleep();
  if (for_sources) all_.end_sleep_for_sources(sleeps_for_sources_);
  if (for_poll) poll_sources(std::chrono::steady_clock::now());
  return for_poll;
}

// The last look before it sleeps. `for_guest`: somebody waits for it to end.
template <class Done>
bool worker::finds_reason_to_stay_awake(Done& done, may_run limit, awaited_work awaited,
                                        bool for_guest) noexcept {
  // Whoever pushes from now on shares at once; what was shared before is seen by this look.
  if (limit == may_run::everything) ask_everyone();
  // From here on, whoever brings a source something sees that this worker sleeps, or is seen by this look.
  if (limit != may_run::awaited_thief && !all_.sources().empty()) all_.fences().everywhere();
  if (done()) return true;
  if (awaited.from != nullptr && awaited.from->sees_work(index_)) return true;
  if (limit == may_run::everything)
    return sees_work() || (for_guest ? sees_private_work() : expose_anything());
  auto* const thief = thief_of(awaited.slot);
  const look here(*this);
  return (thief != nullptr && thief->deque().has_public()) ||
         (limit != may_run::awaited_thief && sees_source_work(limit));
}

// Returns whether it woke because of the deadline, or of a bell.
bool worker::sleep(wake_for what, source::poll_time deadline, waits where, const doorbells& also) noexcept {
  ++parks_;
  parked_.start();
  bool in_time = true;
  if (deadline == futex::never && where == waits::at_top) {
    all_.gate().sleep_vacant(index_);
    self.invite();  // who asked while a guest was the worker asked the guest's deque
  } else if (deadline == futex::never) {
    all_.gate().sleep(index_);
  } else {
    in_time = !all_.gate().sleep_until(index_, what, deadline, also);
  }
  const auto began = parked_.stop();
  if (ring_ != nullptr) record(*ring_, event_kind::parked, nullptr, began);
  return !in_time;
}

bool worker::sees_source_work(may_run limit) noexcept {
  if (!inbox_.empty()) return true;
  return all_.sources().any_of(index_, next_source_, [&](source& each) { return sees_work_of(each, limit); });
}

bool worker::sees_work_of(source& each, may_run limit) noexcept {
  return limit == may_run::own_work ? each.sees_own_work(index_) : each.sees_work(index_);
}

bool worker::sees_work() noexcept {
  if (all_.has_work_from_outside() || sees_source_work(may_run::everything)) return true;
  const look here(*this);
  for (const auto* const other : victims) {
    if (other->deque().has_public()) return true;
  }
  return false;
}

// A hint, which costs less than exposing it.
bool worker::sees_private_work() noexcept {
  const look here(*this);
  return std::any_of(victims.begin(), victims.end(),
                     [](const worker* other) { return other->deque().has_private(); });
}

// The last look of a guest, as finds_reason_to_stay_awake(): whether the worker's own thread has to get up.
bool worker::finds_reason_to_call_home(bool others_idle) noexcept {
  ask_everyone();
  if (!all_.sources().empty()) {
    if (!others_idle) all_.fences().everywhere();
    if (!all_.gate().somebody_wakes_by(next_poll())) return true;
  }
  return sees_work() || sees_private_work();
}

// Whether another worker has public work, or private work of which half is now public.
bool worker::expose_anything() noexcept {
  const look here(*this);
  for (auto* const other : victims) {
    if (!all_.fences().available()) break;
    ++exposures_;
    if (other->deque().expose([this] { all_.fences().everywhere(); })) {
      record_instant(event_kind::exposure);
      return true;
    }
  }
  return false;
}

void worker::ask_everyone() noexcept {
  const look here(*this);
  for (auto* const other : victims) other->deque().ask();
}

void worker::start_search(bool& searching) noexcept {
  all_.gate().start_search();
  searching = true;
  idle_.start();
}

void worker::stop_search(bool& searching) noexcept {
  if (!searching) return;
  searching = false;
  all_.gate().withdraw_offer(index_);
  const auto began = idle_.stop();
  if (ring_ != nullptr) record(*ring_, event_kind::searching, nullptr, began);
  leave_search();
}

// Nobody searches any more, and others sleep: what becomes public from now on wakes one of them, what has
// become public before is looked for here; and one of them has to wake when a source is to be polled.
void worker::hand_over() noexcept {
  ask_everyone();
  if ((sees_work() || !all_.gate().somebody_wakes_by(next_poll())) && all_.gate().wake_any(index_ + 1))
    woke_one();
}

void worker::published() noexcept {
  ++shares_;
  if (all_.gate().notify_work(index_ + 1)) woke_one();
}

// Called between two blocks of a loop.
bool worker::shares_without_wake() noexcept {
  constexpr unsigned blocks_that_pay_a_wake = 128;
  if (!all_.gate().anyone_searches() && ++kept_blocks_ < blocks_that_pay_a_wake) return false;
  kept_blocks_ = 0;
  return true;
}

void worker::woke_one() noexcept {
  ++wakes_;
  record_instant(event_kind::wake);
}

void worker::record_instant(event_kind what, const worker* other) noexcept {
  if (ring_ == nullptr) return;
  const auto now = ticks::now();
  ring_->add({.began = now,
              .ended = now,
              .name = nullptr,
              .other = other == nullptr ? 0 : other->index_,
              .what = what});
}

void worker::wake_owner(const task_slot* slot) noexcept {
  const auto* owner = last_victim_;
  if (owner == nullptr || !owner->slots_.owns(slot)) {
    if (slots_.owns(slot)) return;
    owner = nullptr;
    for (const auto* const other : victims) {
      if (other->slots_.owns(slot)) owner = other;
    }
  }
  if (owner == nullptr) return runtime_registry::wake_owner(slot);
  if (all_.gate().wake(owner->index_)) woke_one();
}

}  // namespace teff::detail
