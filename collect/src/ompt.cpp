// The events of libomp. A task's activation hangs on the task's data; a region's team, on the region's.
#include "ompt.hpp"

#include <cstdlib>
#include <new>
#include <utility>

#include "calls.hpp"
#include "team.hpp"

namespace teff::collect {

constinit thread_local const void* region_function = nullptr;

namespace {

bool confirms_taskloops;  // libomp says which tasks of a taskloop are its chunks
const void* library;      // an address in libomp

// The seat of a thread that an event is of; null outside of regions, and after the master has ended the
// region.
seat* thread_in_region() {
  return me != nullptr && me->current != nullptr ? me : nullptr;
}

void on_parallel_begin(ompt::data*, const void*, ompt::data* region, unsigned, int, const void* caller) {
  region->pointer = nullptr;
  if (const auto* function = std::exchange(region_function, nullptr)) caller = site_of(function);
  seat* thread = here();
  if (thread == nullptr) return;
  static_assert(sizeof(team) <= sizeof(activation));
  if (activation* memory = thread->take()) region->pointer = new (memory) team(*thread, caller, library);
}

// libomp has freed the region's data, and another thread may have a region there already.
void on_parallel_end(ompt::data*, ompt::data*, int, const void*) {
  team* const whole = me == nullptr ? nullptr : me->led;
  if (whole == nullptr) return;
  whole->end();
  me->give(*new (whole) activation);
}

// A thread's part ends when its barrier has ended: only the master says that in time. It may say it while the
// worker is told that the barrier has ended.
void end_barrier(state next) {
  if (me == nullptr) return;
  const std::lock_guard held(me->lock);
  if (me->current != nullptr) me->end_wait(next == state::body ? me->current->inside() : next);
}

void on_implicit_task(ompt::endpoint at, ompt::data* region, ompt::data* task, unsigned, unsigned, int) {
  if (at == ompt::endpoint::end) return end_barrier(state::runtime);
  auto* whole = region == nullptr ? nullptr : static_cast<team*>(region->pointer);
  task->pointer = whole != nullptr && whole->begin_body() ? me->current : nullptr;
}

// A taskloop's tasks are made by the interposed call, or by tasks that only halve the loop.
void on_task_create(ompt::data*, const void*, ompt::data* created, int all_flags, int has_dependences,
                    const void* caller) {
  created->pointer = nullptr;
  const auto flags = static_cast<unsigned>(all_flags);
  seat* thread = thread_in_region();
  activation* task = thread == nullptr || (flags & ompt::taskwait) != 0 ? nullptr : thread->take();
  if (task == nullptr) return;
  const activation& maker = *thread->current;
  const bool of_taskloop = maker.makes_taskloop || maker.unconfirmed;
  const bool has_begun = thread->doing() == state::creation && !of_taskloop;  // by the interposed call
  task->created = has_begun || maker.counted ? thread->since() : ticks();
  task->address = maker.caller != nullptr ? maker.caller : maker.unconfirmed ? maker.address : caller;
  task->function = maker.unconfirmed ? maker.function : maker.makes;
  task->what = of_taskloop ? kind::taskloop : has_dependences != 0 ? kind::dependent : kind::task;
  task->unconfirmed = of_taskloop && confirms_taskloops;
  task->undeferred = (flags & ompt::undeferred) != 0;
  created->pointer = task;
}

void end_task(seat& thread, activation& task) {
  if (thread.current == &task) thread.end_task(task);
  thread.give(task);
}

void begin_task(seat& thread, activation& task) {
  if (task.begun) return thread.resume_task(task);
  thread.begin_task(task);
  if (task.undeferred) task.outer->resumed = task.outer->inside();  // the maker goes on, and says nothing
  if (task.unconfirmed) thread.label(state::creation);
}

void on_task_schedule(ompt::data* prior, ompt::status status, ompt::data* next) {
  seat* thread = thread_in_region();
  auto* from = static_cast<activation*>(prior->pointer);
  auto* to = next == nullptr ? nullptr : static_cast<activation*>(next->pointer);
  if (thread == nullptr || from == nullptr) return;
  if (status == ompt::status::complete || status == ompt::status::cancel || status == ompt::status::detach) {
    prior->pointer = nullptr;  // its body has ended
    end_task(*thread, *from);
  } else if ((status == ompt::status::yield || status == ompt::status::change) && to != nullptr) {
    if (!to->nested) return begin_task(*thread, *to);
    if (from == thread->current) thread->suspend_task();
  }
}

void on_wait(ompt::sync what, ompt::endpoint at, ompt::data*, ompt::data*, const void*) {
  const bool for_tasks = what == ompt::sync::taskwait || what == ompt::sync::taskgroup;
  if (at == ompt::endpoint::end && !for_tasks) return end_barrier(state::body);
  seat* thread = thread_in_region();
  if (thread == nullptr) return;
  if (at == ompt::endpoint::end) return thread->end_wait(thread->current->inside());
  thread->enter(for_tasks ? state::dependences : state::imbalance);
}

void on_lock(ompt::mutex what, unsigned, unsigned, std::uint64_t, const void*) {
  if (seat* thread = thread_in_region())
    thread->enter(what == ompt::mutex::ordered ? state::dependences : state::lock);
}

void on_locked(ompt::mutex, std::uint64_t, const void*) {
  if (seat* thread = thread_in_region()) thread->enter(thread->current->inside());
}

// Loops with chunks come through kmpc.cpp, and are not announced here since libomp 19.
void on_work(ompt::work what, ompt::endpoint at, ompt::data*, ompt::data*, std::uint64_t,
             const void* caller) {
  seat* thread = calling_seat();
  const bool is_loop = what == ompt::work::loop || what == ompt::work::loop_static;
  if (thread == nullptr || (!is_loop && what != ompt::work::sections && what != ompt::work::single)) return;
  const kind part = is_loop ? kind::share : what == ompt::work::single ? kind::single : kind::section;
  if (at == ompt::endpoint::begin) {
    thread->begin_part(part, caller, state::body);
  } else if (thread->current->what == part) {
    thread->end_part(true);
  }
}

void on_dispatch(ompt::data*, ompt::data*, ompt::dispatch what, ompt::data) {
  seat* thread = thread_in_region();
  if (thread == nullptr || what != ompt::dispatch::taskloop_chunk || !thread->current->unconfirmed) return;
  thread->current->unconfirmed = false;
  thread->label(thread->current->inside());
}

int begin_events(ompt::lookup find, int, ompt::data*) {
  const auto set = reinterpret_cast<ompt::set_callback>(find("ompt_set_callback"));
  if (set == nullptr) return 0;
  const auto ask = [set](ompt::event what, auto* function) {
    return set(what, reinterpret_cast<ompt::callback>(function)) == ompt::set_always;
  };
  ask(ompt::event::parallel_begin, on_parallel_begin);
  ask(ompt::event::parallel_end, on_parallel_end);
  ask(ompt::event::implicit_task, on_implicit_task);
  ask(ompt::event::task_create, on_task_create);
  ask(ompt::event::task_schedule, on_task_schedule);
  ask(ompt::event::sync_region_wait, on_wait);
  ask(ompt::event::mutex_acquire, on_lock);
  ask(ompt::event::mutex_acquired, on_locked);
  ask(ompt::event::work, on_work);
  confirms_taskloops = ask(ompt::event::dispatch, on_dispatch);
  return 1;
}

void end_events(ompt::data*) {}

}  // namespace

}  // namespace teff::collect

// libomp calls this when it starts.
extern "C" [[gnu::visibility("default")]] teff::collect::ompt::tool* ompt_start_tool(unsigned, const char*) {
  static teff::collect::ompt::tool events{teff::collect::begin_events, teff::collect::end_events, {}};
  if (std::getenv("TEFF_COLLECT") == nullptr) return nullptr;
  teff::collect::library = __builtin_return_address(0);
  return &events;
}
