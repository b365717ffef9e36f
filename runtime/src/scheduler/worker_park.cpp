// How a worker begins and ends its search for work, parks, and wakes others (parking.md).
#include "scheduler/runtime_registry.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <atomic>
#include <ctime>
#include <optional>
#include <utility>

namespace teff::detail {

void worker::start_search(bool& searching) noexcept {
  all_.gate().start_search();
  searching = true;
  log_.begin_search();
}

void worker::stop_search(bool& searching) noexcept {
  if (!searching) return;
  searching = false;
  log_.end_search();
  if (all_.gate().stop_search()) hand_over();
}

// No worker searches any more, and others sleep. Work that becomes public from now on wakes a sleeper; this
// looks for work that has become public before. And a sleeper has to wake when a source is to be polled.
void worker::hand_over() noexcept {
  ask_everyone();
  if ((sees_work(may_run::everything, private_tasks::pass_over) ||
       !all_.gate().somebody_wakes_by(sources_.next_poll())) &&
      all_.gate().wake_any(index_)) {
    log_.woke_one();
  }
}

void worker::ask_everyone() noexcept {
  const worker_deque::look looking(deque_);
  for (auto* const other : victims) other->deque().current().ask();
}

// ---- Parking ----

// The worker's thread, if the system has taken the core away from it in the middle of a task: the thread's
// clock stands still. Else 0.
pid_t worker::thread_off_core() const noexcept {
  const pid_t thread = thread_on_shared_core_.load(std::memory_order_relaxed);
  if (thread == 0 || is_idle()) return 0;
  // The number that pthread_getcpuclockid() gives the clock: of a thread (4), of the time that it ran (2).
  const auto clock_of_thread = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3U | 6U);
  timespec before{}, after{};
  const bool stands = ::clock_gettime(clock_of_thread, &before) == 0 &&
                      ::clock_gettime(clock_of_thread, &after) == 0 && before.tv_sec == after.tv_sec &&
                      before.tv_nsec == after.tv_nsec;
  return stands ? thread : 0;
}

// The worker needs its core no more, and perhaps waits for a task of a worker that has lost its own core. The
// system itself would move that worker's thread here some milliseconds later, when it next balances its
// queues.
void worker::lend_core() const noexcept {
  for (const auto* const other : victims) {
    if (const pid_t thread = other->thread_off_core()) return all_.move_to_processor_of(index_, thread);
  }
}

// Of a worker that runs nothing meanwhile. It counts as a searcher only for this moment: a searcher is
// expected to find the work of others.
template <class LastLook, class Sleep>
void worker::park_by_name(LastLook last_look, Sleep sleep) noexcept {
  bool searching = false;
  start_search(searching);
  all_.gate().park(word_, wake_for::name, [this] { hand_over(); }, last_look, sleep);
  stop_search(searching);
}

// A worker that searched does so again when this returns.
void worker::park(waiting& mine) noexcept {
  if (mine.limit == may_run::nothing)
    return park_by_name([&] { return last_look(mine); }, [&] { sleep(wake_for::name, mine.how.how); });
  const auto wakes = mine.limit == may_run::everything  ? wake_for::work
                     : mine.limit == may_run::its_tasks ? wake_for::name
                                                        : wake_for::sources;
  bool woke_by_itself = false;
  doorbells bells;
  all_.gate().park(
      word_, wakes, [&] { hand_over(); }, [&] { return !sources_.listen(bells) || last_look(mine); },
      [&] {
        if (!mine.sleeps_since) mine.sleeps_since = search_pace::clock::now();
        woke_by_itself = sleep(wakes, mine.how.how, sources_.next_poll(), bells);
      });
  const auto now = search_pace::clock::now();
  // Work that a bell announced, or that its own look brings, is as a wake by another thread.
  const bool in_vain = woke_by_itself && !sources_.poll(now) && !sources_.sees_polled_work();
  if (mine.sleeps_since && !in_vain)
    patience_.was_woken(now - *std::exchange(mine.sleeps_since, std::nullopt));
  // A worker that woke to poll in vain looks once and sleeps again.
  constexpr auto none = search_pace::clock::duration::zero();
  mine.pace.begin(in_vain ? none : patience_.least(), in_vain ? none : patience_.now());
  keep_to_own_processor();
}

void sleep_by(action sleep) noexcept {
  auto& me = worker::current_or_end();
  me.tell_scope_of_ended_tasks();
  me.park_by_name(
      [&] {
        me.all_.requests().lend();
        return false;
      },
      [&] {
        me.log_.begin_park();
        sleep();
        me.log_.end_park();
        me.all_.gate().cancel_sleep(me.word_, wake_for::name);
      });
}

// The last look before it sleeps.
bool worker::last_look(const waiting& mine) noexcept {
  const bool may_run_all = mine.limit == may_run::everything;
  // A worker that pushes from now on shares at once. This look sees the tasks that were shared before.
  may_run_all ? ask_everyone() : all_.requests().lend();
  // One fence for both. From here on, a thread that brings a source something sees that this worker sleeps,
  // or is seen by this look. So is a worker that has pushed and did not see that it is asked.
  if (may_run_all || mine.limit == may_run::nothing || !all_.sources().empty()) all_.fences().everywhere();
  return mine.done() || (mine.how.from != nullptr && mine.how.from->sees_work(index_)) ||
         sees_work(mine.limit, private_tasks::expose, mine.how.slot);
}

// The last look of a guest: whether the worker's own thread has to get up. Work that any worker may do is
// announced as by a thread that has just published it.
bool worker::guests_last_look(bool others_idle) noexcept {
  auto& gate = all_.gate();
  ask_everyone();
  if (!all_.sources().empty()) {
    doorbells bells;  // those that the worker's own thread sleeps on, if it is relied on
    if (!sources_.listen(bells)) return true;
    gate.promise_again();
    if (!others_idle) all_.fences().everywhere();
    if (!gate.anyone_searches() && !gate.somebody_wakes_by(sources_.next_poll())) return true;
  }
  if (sees_work(may_run::own_work, private_tasks::pass_over)) return true;
  if (gate.needs_a_wake() && sees_work(may_run::everything, private_tasks::count) && gate.wake_any(index_))
    log_.woke_one();
  return false;
}

// Looks once at all work that the worker may run within the limit.
bool worker::sees_work(may_run limit, private_tasks treatment, const task_slot* awaited) noexcept {
  if (limit == may_run::nothing) return false;
  if (limit == may_run::everything && all_.has_work_from_outside()) return true;
  if (limit != may_run::its_tasks && (!inbox_.empty() || sources_.sees_work(limit))) return true;
  if (limit == may_run::everything) return sees_tasks(treatment);
  auto* const thief = thief_of(awaited);
  const worker_deque::look looking(deque_);
  return thief != nullptr && thief->deque().current().has_public();
}

// Looks at the deques of all others. If the worker exposes, it has asked them before, and had a fence
// executed on every core: then it misses no task.
bool worker::sees_tasks(private_tasks treatment) noexcept {
  const worker_deque::look looking(deque_);
  for (auto* const other : victims) {
    auto& deque = other->deque().current();
    if (deque.has_public()) return true;
    if (treatment == private_tasks::pass_over || !deque.has_private()) continue;
    if (treatment == private_tasks::count) return true;
    if (!all_.fences().available()) continue;
    ++log_.exposures;
    if (deque.expose([this] { all_.fences().everywhere(); })) {
      log_.instant(event_kind::exposure);
      return true;
    }
  }
  return false;
}

bool worker::sleep(wake_for what, waits how, polled_source::poll_time deadline,
                   const doorbells& also) noexcept {
  auto& gate = all_.gate();
  lend_core();
  log_.begin_park();
  const bool off_seat = how == waits::at_top && index_ == 0;
  const bool by_itself = gate.sleep_until(word_, what, deadline, also, off_seat);
  if (off_seat) self.invite();  // a thief that asked while a guest was the worker asked the guest's deque
  log_.end_park();
  return by_itself;
}

// ---- Waking others ----

// If more are to be woken, the next push shares at once: those that sleep don't ask.
void worker::published() noexcept {
  ++log_.shares;
  if (all_.gate().notify_work(index_)) {
    log_.woke_one();
    if (all_.gate().needs_a_wake()) self.ask();
  } else {
    all_.count_on_searcher();
  }
}

// Called between two blocks of a loop.
bool shares_without_wake() noexcept {
  constexpr unsigned blocks_that_pay_a_wake = 128;
  auto* const me = worker::current();
  if (me == nullptr || (me->all_.gate().needs_a_wake() && ++me->kept_blocks_ < blocks_that_pay_a_wake))
    return false;
  me->kept_blocks_ = 0;
  return true;
}

void wake_owner(const task_slot* slot) noexcept {
  auto* const me = worker::current();
  if (me == nullptr) return;
  const auto* owner = me->last_victim_;
  if (owner == nullptr || !owner->deque_.owns(slot)) {
    if (me->deque_.owns(slot)) return;
    owner = nullptr;
    for (const auto* const other : me->victims) {
      if (other->deque_.owns(slot)) owner = other;
    }
  }
  if (owner != nullptr) {
    if (me->all_.gate().wake(owner->index_)) me->log_.woke_one();
    return;
  }
  runtimes::each([&](scheduler& each) {  // the owner is of another one, if it still lives
    for (const auto& worker : each.workers()) {
      if (worker->deque().owns(slot)) each.gate().wake(worker->index());
    }
  });
}

}  // namespace teff::detail
