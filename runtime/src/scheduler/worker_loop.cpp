// The loop of a worker that waits: it runs what it finds, spins for a while, parks (README.md).
#include <teff/detail/scheduler/core_share.hpp>
#include <teff/detail/scheduler/gang.hpp>

#include "platform/relax.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

void worker::work_until_stopped() noexcept {
  work_until([this] { return all_.stopping(); }, may_run::everything, {}, waits::at_top);
}

void worker::wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept {
  const traced_span span(event_kind::waiting, nullptr);
  // seq_cst: the last look before sleeping, against complete(); acquire: sees the work of the tasks.
  work_until([&pending] { return pending.load(std::memory_order_seq_cst) == 0; }, may_run_now(), {});
}

void help_until(bool (*done)(const void*), const void* what, source* awaited) noexcept {
  auto& me = worker::current_or_end();
  const bool deep =
      me.activities_.depth() >= most_activities_to_run_anything || !me.has_room_for_foreign_tasks();
  // It may wait for work that only this worker can do.
  const auto limit =
      deep && awaited != nullptr ? may_run::own_work : std::max(me.may_run_now(), may_run::sources);
  me.work_until([=] { return done(what); }, limit, {.from = awaited});
}

void worker::help_while_there_is_work(bool (*done)(const void*), const void* what, source& from) noexcept {
  auto& me = *current();
  constexpr unsigned looks_between_clock_readings = 16;
  const search_pace::clock::duration most = std::chrono::milliseconds(1);
  const auto patience = std::min<search_pace::clock::duration>(me.all_.settings().spin, most);
  search_pace pace(looks_between_clock_readings, me.all_.crowded());
  pace.begin(patience);
  while (!done(what) && !me.request_is_due_) {
    if (me.run_source(from, may_run::sources)) {
      static_cast<void>(current_or_end());
      pace.begin(patience);
    } else if (!pace.goes_on()) {
      break;
    }
  }
  me.tell_scope_of_ended_tasks();
}

// Gives up after the time that a worker looks for work before it parks.
template <class Done>
void worker::spin_until(Done done) noexcept {
  constexpr unsigned looks_between_clock_readings = 64;
  search_pace pace(looks_between_clock_readings, all_.crowded());
  pace.begin(all_.settings().spin);
  if (!done()) keep_to_own_processor();
  while (!done() && pace.goes_on()) continue;
}

void worker::run_own_jobs_until(bool (*done)(const void*), const void* what) noexcept {
  auto& me = *current();
  const within_activity here(me.activities_, {.of = &me});
  bool searching = false;
  do {
    while (me.run_job_of(me.inbox_, searching)) continue;
    me.tell_scope_of_ended_tasks();
    // Where threads share cores, the thread that is to bring a job needs this one.
    if (me.all_.crowded().load(std::memory_order_relaxed)) continue;
    me.spin_until([&] { return !me.inbox_.empty() || done(what); });
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

// It counts as a searcher only for a moment, before it prepares to sleep and after it wakes: a searcher is
// expected to find the work of others.
void block_until(bool (*done)(const void*), const void* what) noexcept {
  auto& me = worker::current_or_end();
  auto& gate = me.all_.gate();
  me.tell_scope_of_ended_tasks();
  for (;;) {
    me.spin_until([=] { return done(what); });
    if (done(what)) return;
    gate.start_search();
    gate.park(
        me.word_, wake_for::name, [&] { me.hand_over(); },
        [&] {
          // From here on, a thread that makes it true sees that this worker sleeps, or is seen by this look.
          me.all_.fences().everywhere();
          return done(what);
        },
        [&] {
          me.all_.requests().begin_sleep();
          me.sleep(wake_for::name, futex::never, worker::waits::within_task);
          me.all_.requests().end_sleep();
        });
    if (gate.stop_search()) me.hand_over();
  }
}

void sleep_by(void (*wait)(void*) noexcept, void* what) noexcept {
  auto& me = worker::current_or_end();
  me.tell_scope_of_ended_tasks();
  me.all_.requests().begin_sleep();
  me.log_.begin_park();
  wait(what);
  me.log_.end_park();
  me.all_.requests().end_sleep();
}

may_run worker::may_run_now() const noexcept {
  if (!has_room_for_foreign_tasks()) return may_run::own_work;
  return activities_.any() ? may_run::sources : may_run::everything;
}

// The loop of a worker that waits until `done()`. It runs the work within `limit` that it finds, spins for a
// while if it finds none, and then sleeps. It looks at `awaited` first: if a thief has the awaited slot, the
// worker steals from that thief (leapfrogging).
template <class Done>
void worker::work_until(Done done, may_run limit, awaited_work awaited, waits where) noexcept {
  constexpr unsigned looks_between_clock_readings = 16;
  waiting mine{condition(done), limit, awaited, where, {looks_between_clock_readings, all_.crowded()}};
  while (!done()) {
    if (run_something(mine)) {
      static_cast<void>(current_or_end());
      mine.fruitless = 0;
      if (where == waits::at_top) give_way_on_shared_core();
    } else {
      tell_scope_of_ended_tasks();
      look_further(mine);
    }
  }
  tell_scope_of_ended_tasks();
  stop_search(mine.searching);
  if (mine.ran_source) announce_what_sources_left();
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

// After a look in vain.
void worker::look_further(waiting& mine) noexcept {
  if (mine.where == waits::at_top && mine.searching && index_ == 0 && all_.gate().the_seat().is_wanted()) {
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
}

// A source's next work is often on its way from another core: for as long as a cache line takes, the idle
// counters, which all workers share, are left alone.
void worker::begin_search(waiting& mine) noexcept {
  constexpr unsigned looks_before_search = 8;
  if (!sources_.all_were_quiet() && ++mine.fruitless < looks_before_search) return relax();
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
    all_.move_this_thread_to(index_);
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
  poll_sources(now);
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
