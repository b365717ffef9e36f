// oneTBB (README.md: oneTBB). Its notifications for tools (ITT) say when a task begins and ends. The
// functions that a program calls say when a task is made, and when a thread waits.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "calls.hpp"
#include "team.hpp"

namespace teff::collect {

namespace {

// Relaxed in all of this file: each number alone is used.
constexpr auto relaxed = std::memory_order_relaxed;

std::atomic<const void*> library{nullptr};  // an address in oneTBB, once the program has called it

// The seat of the thread that calls oneTBB. Null if that notifies somebody else, or nobody.
seat* notified(const incoming_call& call) {
  static const bool is_asked = std::getenv("INTEL_LIBITTNOTIFY64") != nullptr;
  if (is_asked && library.load(relaxed) == nullptr) library.store(call.real, relaxed);
  return is_asked ? here() : nullptr;
}

// The time in which a region of any thread was open: if `closed` is set, the rest of the number; else what
// has passed since this tick.
constexpr std::uint64_t closed = std::uint64_t{1} << 63;
std::atomic<std::uint64_t> open_time{closed};
std::atomic<std::uint64_t> began{0};  // when the first of the open regions did
std::uint32_t open_regions = 0;       // guarded by `growing`

std::uint64_t open_until(std::uint64_t now, std::uint64_t value) {
  return (value & closed) != 0 ? value ^ closed : now - value;
}

void open_or_close(int change, std::uint64_t now) {
  const growing held;
  const bool was_open = open_regions != 0;
  open_regions += static_cast<std::uint32_t>(change);
  if (was_open == (open_regions != 0)) return;
  const auto time = open_until(now, open_time.load(relaxed));
  open_time.store(was_open ? time | closed : now - time, relaxed);
  began.store(now, relaxed);
}

// When tasks were made. If two want one place, the older one seems to have been made long ago.
struct making {
  std::atomic<const void*> task;
  std::atomic<std::uint64_t> time;
};

making& making_of(const void* task) {
  static std::array<making, 4096> all;
  constexpr std::uintptr_t alignment = 64;  // of tasks
  return all[reinterpret_cast<std::uintptr_t>(task) / alignment % all.size()];
}

// A region that the thread began: it made a task or waited, in none of oneTBB's tasks.
struct own_region {
  team whole;
  const void* context;             // of the tasks that it makes
  const void* waits_at = nullptr;  // the frame of the wait that ends the region
  std::uint64_t unopened = 0;      // when it began; 0 once it is among the open ones

  own_region(seat& thread, const incoming_call& call, const void* of_tasks)
      : whole(thread, call.caller, call.real), context(of_tasks) {}
};
constinit thread_local std::optional<own_region> mine;
constinit thread_local bool task_begins = false;

bool is_in_task(const seat& thread) {
  return thread.current != nullptr && thread.current->frame != nullptr;
}

// A worker's tasks are nested in a body of nobody's. Its `created` is open_time as the worker became idle.
bool is_idle(const seat& thread) {
  return thread.current != nullptr && thread.current->what == kind::others;
}

void become_idle(seat& worker) {
  worker.label(state::serial);  // until a task comes, or the process ends
  worker.current->created = open_time.load(relaxed);
}

// The worker's idle time was outside of regions, then at the end of earlier ones, then in the present one.
void end_idle(seat& worker) {
  const auto now = ticks(), value = open_time.load(relaxed);
  const auto within = open_until(now, value) - open_until(worker.since(), worker.current->created);
  worker.label(state::serial);
  worker.enter(state::imbalance, now - std::min(within, now - worker.since()));
  worker.enter(state::imbalance, std::min(began.load(relaxed), now));
}

bool become_worker(seat& thread, std::uint64_t task_made) {
  thread.current = thread.take();
  if (thread.current == nullptr) return false;
  thread.runtime = find_module(library.load(relaxed));
  if ((open_time.load(relaxed) & closed) == 0) thread.begin_worker(began.load(relaxed));
  thread.take_part();
  const state before = thread.doing();
  if (task_made <= thread.since()) return true;
  thread.label(state::task_not_made);
  thread.enter(before, task_made);
  return true;
}

void end_region(seat& thread) {
  mine->whole.end();
  if (mine->unopened == 0) open_or_close(-1, thread.since());
  mine.reset();
  if (is_idle(thread)) become_idle(thread);
}

// Ends the tasks and the wait in frames up to this one. Without a notification a task ends by an exception.
void leave_frames(seat& thread, const void* frame) {
  while (is_in_task(thread) && thread.current->frame <= frame) {
    activation& task = *thread.current;
    thread.end_task(task);
    thread.give(task);
    if (is_idle(thread)) become_idle(thread);
  }
  if (mine && mine->waits_at != nullptr && mine->waits_at <= frame) end_region(thread);
}

// The thread has made tasks. If it makes more of the same context, or waits for them, its time since then is
// of the region. Else it was outside: nobody waits for these tasks yet.
void go_on_making(seat& thread, const void* context) {
  if (context != mine->context) return end_region(thread);
  if (mine->unopened != 0) open_or_close(1, std::exchange(mine->unopened, 0));
  if (thread.doing() == state::serial) thread.label(state::body);
}

// The seat of a thread that makes a task or waits; in a region, which the thread begins if it is in none.
seat* caller_in_region(const incoming_call& call, const void* frame, const void* context) {
  seat* const thread = notified(call);
  if (thread == nullptr) return nullptr;
  if (thread->current == nullptr) mine.reset();  // in a child of fork
  leave_frames(*thread, frame);
  if (is_in_task(*thread)) return thread;
  if (mine && mine->waits_at == nullptr) go_on_making(*thread, context);
  if (mine) return thread;
  mine.emplace(*thread, call, context);
  if (mine->whole.begin_body()) {
    mine->unopened = thread->since();
    return thread;
  }
  mine.reset();
  return nullptr;
}

void note_task(const void* task, std::uint64_t now) {
  making_of(task).task.store(task, relaxed);
  making_of(task).time.store(now, relaxed);
}

template <class GoOn>
void make_task(const incoming_call& call, const void* frame, const void* task, const void* context,
               GoOn go_on) {
  seat* const thread = caller_in_region(call, frame, context);
  if (thread == nullptr) return go_on();
  {
    const creation made(thread, call.caller, false);
    note_task(task, thread->since());
    go_on();
  }
  if (!is_in_task(*thread)) thread->label(state::serial);  // until the next task, or the wait
}

// Nobody waits for this task.
template <class GoOn>
void make_lone_task(const incoming_call& call, const void*, const void* task, const void*, GoOn go_on) {
  if (notified(call) != nullptr) note_task(task, ticks());
  go_on();
}

// In a task, the thread may come back from the wait as another one: then the frame is the other one's.
template <class GoOn>
void wait_for_tasks(const incoming_call& call, const void* frame, const void*, const void* context,
                    GoOn go_on) {
  seat* const thread = caller_in_region(call, frame, context);
  if (thread == nullptr) return go_on();
  const bool ends_region = !is_in_task(*thread) && mine->waits_at == nullptr;
  if (ends_region) {
    go_on_making(*thread, context);
    mine->waits_at = frame;
  }
  thread->enter(ends_region ? state::imbalance : state::dependences);
  go_on();
  if (me != thread) return;
  leave_frames(*thread, frame);
  if (!ends_region) thread->enter(thread->current->inside());
}

void begin_task(const void* task, const void* frame) {
  seat* const thread = library.load(relaxed) == nullptr ? nullptr : here();
  if (thread == nullptr) return;
  const making& known = making_of(task);
  const auto made = known.task.load(relaxed) == task ? known.time.load(relaxed) : 0;
  leave_frames(*thread, frame);
  if (thread->current == nullptr) {
    if (!become_worker(*thread, made)) return;
  } else if (is_idle(*thread) && thread->current->created != open_time.load(relaxed)) {
    end_idle(*thread);
  } else if (is_idle(*thread) && (thread->current->created & closed) == 0) {
    thread->label(state::imbalance);
  }
  activation* const one = thread->take();
  if (one == nullptr) return;
  constexpr std::size_t execute = 2;  // its place in the table of a task's functions
  one->address = site_of((*static_cast<void* const* const*>(task))[execute]);
  one->what = kind::task;
  one->created = made;
  one->frame = frame;
  thread->begin_task(*one);
}

[[gnu::destructor]] void on_exit() {
  for (seat* one = first_seat(); one != nullptr; one = one->next) {
    if (!is_idle(*one)) continue;
    end_idle(*one);
    one->enter(state::serial);
  }
}

}  // namespace

}  // namespace teff::collect

using namespace teff::collect;

// oneTBB looks for these by name. A task begins between the first two.
TEFF_INTERPOSED const char* __itt_api_version() {
  return "3";
}
TEFF_INTERPOSED void __itt_stack_callee_enter(void*) {
  task_begins = true;
}
TEFF_INTERPOSED void __itt_sync_acquired(void* object) {
  if (task_begins) begin_task(object, __builtin_dwarf_cfa());
  task_begins = false;
}
TEFF_INTERPOSED void __itt_stack_callee_leave(void*) {
  if (me != nullptr) leave_frames(*me, __builtin_dwarf_cfa());
}

// Functions of tbb::detail::r1. Of `a` to `d`, `context` is the one of the tasks.
#define TEFF_TBB(name, what, context)                                                     \
  TEFF_INTERPOSED void name(void* a, void* b, void* c, void* d) {                         \
    TEFF_CALL(#name);                                                                     \
    what(call, __builtin_dwarf_cfa(), a, context, [&] { call.go_on<void>(a, b, c, d); }); \
  }
TEFF_TBB(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE, make_task, b)
TEFF_TBB(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt, make_task, b)
TEFF_TBB(_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm, make_task, b)
TEFF_TBB(_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE, make_lone_task, b)
TEFF_TBB(_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE,
         make_lone_task, b)
TEFF_TBB(_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_,
         wait_for_tasks, b)
TEFF_TBB(_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE, wait_for_tasks, b)
TEFF_TBB(_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE,
         wait_for_tasks, a)
