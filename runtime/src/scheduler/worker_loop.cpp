// The loop of a worker that waits: it runs what it finds, spins for a while, parks (README.md).
#include <teff/detail/platform/relax.hpp>
#include <teff/detail/scheduler/core_share.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace teff::detail {

namespace {

// A worker that waits for a source runs tasks of other sources meanwhile, and each of these may wait in its
// turn, on top of it. From so many activities on, it leaves them to other workers: its stack is finite.
constexpr std::size_t most_activities_to_run_anything = 16;

// Work in the private part of another worker's deque is made public, which takes a system call.
constexpr unsigned looks_between_exposures = 128;

}  // namespace

void end_child_process() noexcept {
  std::fputs("libteff: a task that has called fork() ends in the child process, where nothing waits for it\n",
             stderr);
  ::_exit(EXIT_FAILURE);
}

bool run_here(source& each) noexcept {
  const bool ran = worker::current_or_end().run_source(each, may_run::sources);
  return !worker::current_or_end().request_is_due() && ran;
}

may_run worker::may_run_now() const noexcept {
  if (activities_.is_isolated()) return may_run::its_tasks;
  if (!has_room_for_foreign_tasks()) return may_run::own_work;
  return activities_.any() ? may_run::sources : may_run::everything;
}

may_run worker::may_run_in(const while_waiting& how) const noexcept {
  switch (how.how) {
    case waits::at_top:
      return may_run::everything;
    case waits::for_its_tasks:
      return may_run_now();
    case waits::for_others:
      break;
    default:
      return may_run::nothing;
  }
  const bool deep = activities_.depth() >= most_activities_to_run_anything || !has_room_for_foreign_tasks();
  // It may wait for work that only this worker can do.
  return deep && how.from != nullptr ? may_run::own_work : std::max(may_run_now(), may_run::sources);
}

// It runs the work that it may run and finds, spins for a while if it finds none, and then sleeps. A guest
// gives up instead.
void worker::wait_until(condition done, const while_waiting& how) noexcept {
  constexpr unsigned looks_between_clock_readings = 16;
  waiting mine{done, how, may_run_in(how), {looks_between_clock_readings, all_.crowded()}};
  if (mine.limit == may_run::nothing) mine.pace.begin(patience_of(how.how));
  while (!done()) {
    if (run_something(mine)) {
      static_cast<void>(current_or_end());
      mine.fruitless = 0;
      if (how.how == waits::at_top) give_way_on_shared_core();
      if (how.how == waits::as_guest) mine.pace.begin(patience_of(how.how));
    } else {
      tell_scope_of_ended_tasks();
      if (!look_further(mine)) break;
    }
  }
  tell_scope_of_ended_tasks();
  stop_search(mine.searching);
  // A source may rely on the worker that ran it to look at it next, and wake no other worker. This one goes
  // on with its task instead. So it wakes another worker for what it would have seen.
  if (!mine.ran_source) return;
  sources_.any_of([this](source& each) {
    each.step_back(index_);
    return false;
  });
  if (sources_.sees_polled_work()) detail::published(all_);
}

// Of a worker that runs nothing of others.
search_pace::clock::duration worker::patience_of(waits how) const noexcept {
  const search_pace::clock::duration spin = all_.settings().spin;
  constexpr search_pace::clock::duration most_of_a_guest = std::chrono::milliseconds(1);
  return how == waits::as_guest ? std::min(spin, most_of_a_guest) : spin;
}

// Between two tasks, with nothing below on its stack: before the system takes a shared core from the worker
// in the middle of one, for which others would wait (shared_core.md).
void worker::give_way_on_shared_core() noexcept {
  constexpr unsigned tasks_between_looks = 8;
  if (++tasks_at_top_ % tasks_between_looks != 0 && !this_core.is_shared()) return;
  if (!this_core.is_time_to_give_way()) return;
  tell_scope_of_ended_tasks();  // or a thread that waits for these would wait for its return
  this_core.give_way();
}

// After a look in vain. False: it gives up.
bool worker::look_further(waiting& mine) noexcept {
  const auto how = mine.how.how;
  if (mine.limit == may_run::nothing) {
    if (mine.fruitless++ == 0) keep_to_own_processor();
    if (how == waits::as_guest) return !request_is_due_ && mine.pace.goes_on();
    if (mine.pace.goes_on()) return true;
    park(mine);
    mine.pace.begin(patience_of(how));
  } else if (how == waits::at_top && mine.searching && index_ == 0 && all_.gate().the_seat().is_wanted()) {
    park(mine);
  } else if (!mine.searching) {
    begin_search(mine);
  } else if (mine.pace.is_time_to_read()) {
    look_around(mine);
    if (mine.pace.is_over()) {
      if (!is_counted_on(mine)) park(mine);
    } else if (mine.limit == may_run::everything && mine.pace.looks() % looks_between_exposures == 0 &&
               sees_tasks(private_tasks::count) && all_.exposure_is_due()) {
      sees_tasks(private_tasks::expose);
    } else {
      mine.pace.give_way();
    }
  }
  return true;
}

// A source's next work is often on its way from another core: for as long as a cache line takes, the idle
// counters, which all workers share, are left alone.
void worker::begin_search(waiting& mine) noexcept {
  constexpr unsigned looks_before_search = 8;
  if (!all_.sources().empty() && ++mine.fruitless < looks_before_search) return relax();
  keep_to_own_processor();
  start_search(mine.searching);
  mine.pace.begin(patience_.least(), patience_.now());
  look_around(mine);
}

// A worker is not bound by its affinity mask, which threads and processes that a task begins would inherit.
// So the system may wake or move the worker to the processor of another worker. The two workers would share
// the processor from then on. Each would wait some milliseconds a time until the system runs it again.
void worker::keep_to_own_processor() const noexcept {
  const auto* const here = all_.worker_of_this_processor();
  if (here != nullptr && here != this && !all_.gate().is_asleep(here->index()))
    all_.move_to_processor_of(index_);
}

// Whether it spins longer than others and a thread published meanwhile, which would have had to wake a
// worker. Then its patience begins again.
bool worker::is_counted_on(waiting& mine) noexcept {
  if (!patience_.is_long()) return false;
  if (mine.pace.has_lost_core() || !all_.was_searcher_counted_on()) {
    patience_.was_in_vain();
    return false;
  }
  mine.pace.begin(patience_.least(), patience_.now());
  return true;
}

// A searcher does this whenever it reads the clock.
void worker::look_around(waiting& mine) noexcept {
  ask_everyone();
  const auto now = mine.pace.read_clock();
  sources_.poll(now);
  if (mine.limit != may_run::everything) lend_requests(mine, now);
}

// Requests that it sees and may not run have some time to be taken by another worker.
void worker::lend_requests(waiting& mine, std::chrono::steady_clock::time_point now) noexcept {
  constexpr std::chrono::microseconds patience{20};
  if (all_.requests().empty()) {
    mine.lends_at = search_pace::clock::time_point::max();
  } else if (now >= mine.lends_at) {
    all_.requests().lend();
  } else {
    mine.lends_at = std::min(mine.lends_at, now + patience);
  }
}

}  // namespace teff::detail
