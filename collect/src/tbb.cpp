// oneTBB. Its notifications for tools (ITT) say when a task begins and ends. The functions that programs call
// say when a task is made and waited for. A thread outside of tasks begins a region when it first makes a
// task or waits. The region ends with this wait. All other threads that run tasks are workers (README.md:
// oneTBB).
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "calls.hpp"
#include "team.hpp"

namespace teff::collect {

namespace {

std::atomic<std::uint32_t> library{
    0};                          // 1 + the number of the module of oneTBB, once the program has called it
std::uint32_t open_regions = 0;  // guarded by `growing`
std::atomic<std::uint64_t> began{0};  // when the first of the open regions did

// The time in which a region was open, up to now. If `closed` is set, no region is open, and the rest is this
// time. Else this time is what has passed since that tick.
constexpr std::uint64_t closed = std::uint64_t{1} << 63;
std::atomic<std::uint64_t> open_time{closed};

std::uint64_t open_until(std::uint64_t now, std::uint64_t value) {
  return (value & closed) != 0 ? value ^ closed : now - value;
}

// Relaxed here and for all numbers below: each number alone is used.
void open_or_close(int change, std::uint64_t now) {
  const growing held;
  const auto value = open_time.load(std::memory_order_relaxed);
  const bool was_open = open_regions != 0;
  open_regions += static_cast<std::uint32_t>(change);
  if (was_open == (open_regions != 0)) return;
  const auto time = open_until(now, value);
  open_time.store(was_open ? time | closed : now - time, std::memory_order_relaxed);
  began.store(now, std::memory_order_relaxed);
}

// When the last tasks were made. Two tasks may want one place: then the older one seems to have been made
// early.
struct making {
  std::atomic<const void*> task;
  std::atomic<std::uint64_t> time;
};
std::array<making, 4096> makings;

making& making_of(const void* task) {
  constexpr std::uintptr_t alignment = 64;  // of tasks
  return makings[reinterpret_cast<std::uintptr_t>(task) / alignment % makings.size()];
}

std::uint64_t time_of_making(const void* task) {
  const making& found = making_of(task);
  return found.task.load(std::memory_order_relaxed) == task ? found.time.load(std::memory_order_relaxed) : 0;
}

constinit thread_local std::optional<team> region;      // that the thread began
constinit thread_local const void* waits_at = nullptr;  // the frame of the wait that ends it
constinit thread_local bool task_begins = false;

// The body of a worker is nobody's: its tasks are nested in it. Its `created` is open_time when it became
// idle.
bool is_idle(const activation* body) {
  return body != nullptr && body->what == kind::others;
}

// The idle time of a worker ends: it was outside of regions, then at the end of earlier regions, then in the
// present one.
void end_idle(seat& worker, std::uint64_t value) {
  const auto now = ticks();
  const auto within = open_until(now, value) - open_until(worker.since(), worker.current->created);
  worker.label(state::serial);
  worker.enter(state::imbalance, now - std::min(within, now - worker.since()));
  worker.enter(state::imbalance, std::min(began.load(std::memory_order_relaxed), now));
}

void become_idle(seat& worker) {
  worker.label(state::serial);  // until a task comes, or the process ends
  worker.current->created = open_time.load(std::memory_order_relaxed);
}

bool become_worker(seat& thread, std::uint64_t task_made) {
  activation* body = thread.take();
  if (body == nullptr) return false;
  thread.current = body;
  thread.runtime = library.load(std::memory_order_relaxed) - 1;
  if ((open_time.load(std::memory_order_relaxed) & closed) == 0)
    thread.begin_worker(began.load(std::memory_order_relaxed));
  thread.take_part();
  if (task_made > thread.since()) {
    const state before = thread.doing();
    thread.label(state::task_not_made);
    thread.enter(before, task_made);
  }
  return true;
}

// Ends the tasks and the wait in frames up to this one. Without a notification a task ends by an exception.
void leave_frames(seat& thread, const void* frame) {
  while (thread.current != nullptr && thread.current->frame != nullptr && thread.current->frame <= frame) {
    activation& task = *thread.current;
    thread.end_task(task);
    thread.give(task);
    if (is_idle(thread.current)) become_idle(thread);
  }
  if (waits_at == nullptr || waits_at > frame) return;
  waits_at = nullptr;
  region->end();
  region.reset();
  open_or_close(-1, thread.since());
}

// The seat of a thread that calls, in a region. `begins`: one that is in none begins one.
seat* caller_in_region(const incoming_call& call, const void* frame, bool begins) {
  seat* const thread = here();
  if (thread == nullptr) return nullptr;
  if (library.load(std::memory_order_relaxed) == 0) {
    const growing held;
    library.store(1 + module_of(call.real), std::memory_order_relaxed);
  }
  leave_frames(*thread, frame);
  if (is_idle(thread->current)) {  // no worker: it ran tasks while it waited for a place in an arena
    activation& body = *thread->current;
    end_idle(*thread, open_time.load(std::memory_order_relaxed));
    thread->enter(state::serial);
    thread->current = nullptr;
    thread->give(body);
  }
  const bool is_within = region || (thread->current != nullptr && thread->current->frame != nullptr);
  if (is_within || !begins) return is_within ? thread : nullptr;
  region.emplace(*thread, call.caller, call.real);
  if (region->begin_body()) return open_or_close(1, thread->since()), thread;
  region.reset();
  return nullptr;
}

template <class GoOn>
void make_task(const incoming_call& call, const void* frame, const void* task, bool begins, GoOn go_on) {
  seat* const thread = caller_in_region(call, frame, begins);
  std::optional<creation> made;
  if (thread != nullptr) made.emplace(*thread, call.caller, false);
  making& place = making_of(task);
  place.task.store(task, std::memory_order_relaxed);
  place.time.store(thread == nullptr ? ticks() : thread->since(), std::memory_order_relaxed);
  go_on();
}

// In a task, the thread may come back from the wait as another one: then the frame is the other one's.
template <class GoOn>
void wait_for_tasks(const incoming_call& call, const void* frame, GoOn go_on) {
  seat* const thread = caller_in_region(call, frame, true);
  if (thread == nullptr) return go_on();
  const bool ends_region = region && waits_at == nullptr;
  if (ends_region) waits_at = frame;
  thread->enter(ends_region ? state::imbalance : state::dependences);
  go_on();
  if (me != thread) return;
  leave_frames(*thread, frame);
  if (!ends_region) thread->enter(thread->current->inside());
}

void begin_task(const void* task, const void* frame) {
  seat* const thread = library.load(std::memory_order_relaxed) == 0 ? nullptr : here();
  if (thread == nullptr) return;
  const auto made = time_of_making(task);
  if (thread->current == nullptr) {
    if (!become_worker(*thread, made)) return;
  } else {
    leave_frames(*thread, frame);
    if (is_idle(thread->current)) {
      const auto value = open_time.load(std::memory_order_relaxed);
      if (value != thread->current->created) {
        end_idle(*thread, value);
      } else if ((value & closed) == 0) {
        thread->label(state::imbalance);
      }
    }
  }
  activation* one = thread->take();
  if (one == nullptr) return;
  constexpr std::size_t execute = 2;  // its place in the table of a task's functions
  one->address = (*static_cast<void* const* const*>(task))[execute];
  one->what = kind::task;
  one->created = made;
  one->frame = frame;
  thread->begin_task(*one);
}

[[gnu::destructor]] void on_exit() {
  for (seat* one = first_seat(); one != nullptr; one = one->next) {
    if (is_idle(one->current)) end_idle(*one, open_time.load(std::memory_order_relaxed));
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

// Names of tbb::detail::r1, in namespace d1 but for `arena`: task, task_group_context, and so on.
#define TEFF_MAKE(name, begins)                                                   \
  TEFF_INTERPOSED void name(void* task, void* context, void* arena, long flags) { \
    TEFF_CALL(#name);                                                             \
    make_task(call, __builtin_dwarf_cfa(), task, begins,                          \
              [&] { call.go_on<void>(task, context, arena, flags); });            \
  }
TEFF_MAKE(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE, true)
TEFF_MAKE(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt, true)
TEFF_MAKE(_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm, true)
TEFF_MAKE(_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE, false)
TEFF_MAKE(_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE, false)

#define TEFF_WAIT(name)                                                                 \
  TEFF_INTERPOSED void name(void* a, void* b, void* c, void* d) {                       \
    TEFF_CALL(#name);                                                                   \
    wait_for_tasks(call, __builtin_dwarf_cfa(), [&] { call.go_on<void>(a, b, c, d); }); \
  }
TEFF_WAIT(_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_)
TEFF_WAIT(_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE)
TEFF_WAIT(_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE)
