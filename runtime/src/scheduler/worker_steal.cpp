// Where a worker finds something to do, and how it runs that.
#include <teff/detail/scheduler/requests.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace teff::detail {

worker* worker::thief_of(const task_slot* awaited) const noexcept {
  if (awaited == nullptr) return nullptr;
  const auto state = awaited->state.load(std::memory_order_relaxed);
  return state < slot_state::first_thief ? nullptr : all_.workers()[state - slot_state::first_thief].get();
}

bool worker::run_source(source& each, may_run limit) noexcept {
  tell_scope_of_ended_tasks();
  const within_activity enclosing(activities_, {.of = &each});
  return limit == may_run::own_work ? each.run_own(index_) : each.run(index_);
}

// The work that they run may call this again. A worker that searches looks at all sources first. It does not
// end its search within such a look: it may look at all of them then, and the one that it has found may go.
bool worker::run_sources(may_run limit, bool& searching) noexcept {
  if (searching && !sources_.sees_work(limit)) return false;
  stop_search(searching);
  return sources_.any_of([&](source& each) { return run_source(each, limit); });
}

bool worker::run_something(waiting& mine) noexcept {
  const auto limit = mine.limit;
  const auto& awaited = mine.how;
  bool& searching = mine.searching;
  if (limit == may_run::nothing) {
    if (awaited.how == waits::blocked || request_is_due_) return false;
    return awaited.from != nullptr ? run_source(*awaited.from, may_run::sources)
                                   : run_job_of(inbox_, searching);
  }
  if (std::exchange(request_is_due_, false) && limit == may_run::everything &&
      run_job_of(all_.requests().queue(), searching))
    return true;
  // The thread that waits for the source keeps it alive.
  if (awaited.from != nullptr && (!searching || awaited.from->sees_work(index_))) {
    stop_search(searching);
    if (run_source(*awaited.from, may_run::sources)) return mine.ran_source = true;
  }
  // The worker takes a request only if it was queued before the worker looked at all sources. The thread that
  // submitted it may have brought a source work before, for which the request may wait.
  const bool from_outside = limit == may_run::everything && all_.has_work_from_outside();
  const bool runs_others = limit != may_run::its_tasks;
  if (runs_others && run_sources(limit, searching)) return mine.ran_source = true;
  worker* victim = thief_of(awaited.slot);
  task_slot* slot = victim == nullptr ? nullptr : steal_from(*victim);
  if (slot == nullptr && runs_others && run_job_of(inbox_, searching)) return true;
  if (slot == nullptr && from_outside &&
      (run_job_of(all_.requests().calls(), searching) ||
       (!leaves_request_to_another(searching) && run_job_of(all_.requests().queue(), searching))))
    return true;
  if (slot == nullptr && limit != may_run::own_work && has_room_for_foreign_tasks()) {
    slot = steal_from_anyone(mine, victim);
    if (slot == nullptr && (slot = take_oldest_of_own()) != nullptr) victim = this;
  }
  if (slot == nullptr) return false;
  stop_search(searching);
  log_.instant(event_kind::steal, victim->index_);
  run_stolen(*victim, *slot);
  return true;
}

bool worker::run_job_of(job_queue& queue, bool& searching) noexcept {
  job* const taken = queue.pop();
  if (taken == nullptr) return false;
  stop_search(searching);
  run_job(*taken);
  return true;
}

// A worker that has just run something looks at all others, from a random one on. While it searches, it looks
// at a few at a time. Each look takes a copy of the line that the victim writes when it shares or takes back.
// Fifteen searchers that looked at everybody would keep a worker that spawns from that line.
task_slot* worker::steal_from_anyone(const waiting& mine, worker*& victim) noexcept {
  constexpr std::size_t few = 2;
  const auto count = victims.size();
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  std::size_t at = count == 0 ? 0 : random_ % count;
  for (std::size_t looks = mine.searching ? std::min(few, count) : count; looks != 0; --looks) {
    victim = victims[at];
    if (task_slot* const slot = steal_from(*victim)) return slot;
    at = at + 1 == count ? 0 : at + 1;
  }
  return nullptr;
}

// A worker that waits for something that it did not spawn may have tasks of the frames below in its own
// deque. It runs the oldest as a thief would; the frame that pushed it finds it stolen.
task_slot* worker::take_oldest_of_own() noexcept {
  if (!self.has_public()) {
    if (!self.share()) return nullptr;
    published();
  }
  return steal_from(*this);
}

// Within an activity only a task that belongs to one (README, "Waiting within an activity"). That holds for
// the thief of the awaited slot, too: the oldest task in its deque may have been there before.
task_slot* worker::steal_from(worker& victim) noexcept {
  const bool within = activities_.any();
  const worker_deque::look looking(deque_);
  auto* const slot = victim.deque().current().steal([&](const task_slot* oldest) {
    return !within || activities_.admit(victim.activities().of_slot(oldest));
  });
  if (slot == nullptr) {
    ++log_.failed_steals;
  } else {
    ++log_.steals;
  }
  return slot;
}

// Tasks that it spawned may run here after it, in the same frame.
void worker::run_stolen(worker& victim, task_slot& slot) noexcept {
  // Relaxed: only a hint, where the owner looks for work while it waits.
  slot.state.store(slot_state::first_thief + index_, std::memory_order_relaxed);
  last_victim_ = &victim;
  const within_activity enclosing(activities_, victim.activities().of_slot(&slot));
  run_stolen_slot(stolen_, slot);
}

void run_as_activity(const void* of, action body) noexcept {
  if (auto* const me = worker::current()) {
    me->tell_scope_of_ended_tasks();
    const within_activity enclosing(me->activities_, {.of = of, .exclusive = true});
    body();
  } else {
    const within activity(of);
    body();
  }
}

isolated::isolated() noexcept : within(*self.frame) {
  auto* const me = worker::current();
  if (me == nullptr) return;  // a thread where tasks run in order
  auto what = me->activities().innermost();
  what.exclusive = true;
  what.isolated_by = this;
  me->activities().begin(what, self.head());
}

isolated::~isolated() {
  if (auto* const me = worker::current()) me->activities().end({.exclusive = true, .isolated_by = this});
}

// The call of a guest is to go on as soon as it can. So the guest leaves a request to another worker that
// searches, or wakes one for it. A searcher that may not run the request soon lends it.
bool worker::leaves_request_to_another(bool searching) noexcept {
  if (word_ == index_) return false;
  if (all_.gate().anyone_searches(searching ? 1 : 0)) return true;
  if (!all_.gate().wake_any(index_)) return false;
  log_.woke_one();
  return true;
}

// If something came from outside that nobody else has taken up, the worker runs it on top of its task, or has
// a spare thread run it.
void look_outside() noexcept {
  auto* const me = worker::current();
  if (me == nullptr) return;
  // Not at other jobs: two calls of run() may wait for each other by means of their own.
  auto& requests = me->all_.requests();
  if (requests.empty()) [[likely]]
    return;
  if (me->may_run_now() != may_run::everything) return requests.lend();
  if (me->leaves_request_to_another(false)) return self.ask();  // it looks again at its next push
  auto* const next = requests.queue().pop();
  if (next == nullptr) return;
  me->run_job(*next);
  if (!requests.empty()) self.ask();  // it looks again at its next push
}

// The source itself is an activity.
bool makes_way_for_request() noexcept {
  auto* const me = worker::current();
  if (me == nullptr) return false;
  auto& requests = me->all_.requests();
  if (requests.empty() || me->all_.gate().anyone_searches()) return false;
  if (me->activities_.depth() > 1) {
    requests.lend();
    return false;
  }
  return me->request_is_due_ = true;
}

void worker::run_job(job& job) noexcept {
  ++log_.jobs;
  tell_scope_of_ended_tasks();
  const within of_no_other;
  job.run(job);
}

}  // namespace teff::detail
