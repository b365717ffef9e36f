// The functions that GCC's programs call. Each goes on to libgomp, whose bodies come back through run_body()
// and run_task(). If they go on to libomp, only what OMPT lacks is noted here: creation and dispatch.
#include <alloca.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "calls.hpp"
#include "team.hpp"

namespace teff::collect {

namespace {

using body_function = void(void*);
using copy_function = void(void* to, void* from);

// ---- regions

// Takes the place of the region's data. libgomp reads the first word of the data of a region with task
// reductions.
struct region_data {
  void* first_word;
  body_function* body;
  void* data;
  team* whole;
  const runtime* called;
};

void run_body(void* argument) {
  const auto& region = *static_cast<region_data*>(argument);
  const bool kept = region.whole->begin_body();
  last_called = region.called;
  region.body(region.data);
  if (kept && me != nullptr) me->enter(state::imbalance);
}

// ---- tasks

// Comes before a task's data. libgomp takes both for the data. It writes the bounds of a taskloop's task into
// the first two words, and the handle of a detached task into the first. Of a taskloop with reductions it
// reads the third.
struct task_head {
  std::array<void*, 3> words;
  std::size_t words_written;  // by libgomp, which belong into the data
  std::size_t data_offset;
  body_function* body;
  activation task;
};

// The copying function gets this in place of the data.
struct task_source {
  task_head head;
  void* data;
  copy_function* copy;
};

constexpr unsigned with_dependences = 8, with_reduction = 4096, detached = 8192;

char* data_of(task_head& head) {
  return reinterpret_cast<char*>(&head) + head.data_offset;
}

void run_task(void* argument) {
  auto& head = *static_cast<task_head*>(argument);
  char* const data = data_of(head);
  std::memcpy(data, head.words.data(), head.words_written * sizeof(void*));
  seat* thread = me;
  if (thread == nullptr || thread->current == nullptr) return head.body(data);
  thread->begin_task(head.task);
  head.body(data);
  thread->end_task(head.task);
}

void copy_task(void* to, void* from) {
  auto& source = *static_cast<task_source*>(from);
  auto& head = *new (to) task_head(source.head);
  std::memcpy(source.data, source.head.words.data(), head.words_written * sizeof(void*));
  source.copy(data_of(head), source.data);
}

// The task's data with a head before them. `go_on` gives them to libgomp, as it would give the data
// themselves.
template <class GoOn>
void make_headed_task(const void* caller, task_head head, void* data, copy_function* copy, std::size_t size,
                      std::size_t align, GoOn go_on) {
  align = std::max({align, alignof(task_head), std::size_t{1}});
  head.data_offset = (sizeof(task_head) + align - 1) & ~(align - 1);
  size += head.data_offset;
  const creation made(me, caller, false);
  head.task.address = caller;
  head.task.function = reinterpret_cast<const void*>(head.body);
  head.task.created = me->since();
  if (copy != nullptr) {
    task_source source{head, data, copy};
    return go_on(run_task, &source, copy_task, size, align);
  }
  // libgomp would copy the bytes. It does not drop a cancelled task that has a copying function, so there
  // must be none here.
  auto place = reinterpret_cast<std::uintptr_t>(alloca(size + align));
  void* const whole = reinterpret_cast<void*>((place + align - 1) & ~(align - 1));
  new (whole) task_head(head);
  std::memcpy(static_cast<char*>(whole) + head.data_offset, data, size - head.data_offset);
  go_on(run_task, whole, nullptr, size, align);
}

template <class GoOn>
long wait_on_libgomp(const incoming_call& call, GoOn go_on, state why, bool ends_loop) {
  if (call.called.has_ompt) return go_on();
  seat* const thread = calling_seat();
  const kind what = thread == nullptr ? kind::others : thread->current->what;
  if (ends_loop && (what == kind::chunk || what == kind::section))
    thread->end_part(false);  // it was cancelled
  return wait_in(call, go_on, why);
}

// Whether the runtime is libomp, whose events tell of the rest: then the body only makes a task, by `go_on`.
template <class GoOn>
bool makes_on_libomp(const incoming_call& call, body_function* body, bool taskloop, GoOn go_on) {
  seat* const thread = calling_seat();
  if (thread != nullptr && !call.called.has_ompt) return false;
  if (thread != nullptr) thread->current->makes = reinterpret_cast<const void*>(body);
  const creation made(thread, call.caller, taskloop);
  go_on();
  return true;
}

}  // namespace

}  // namespace teff::collect

using namespace teff::collect;

#define TEFF_DEFINE(name)                                                                          \
  TEFF_INTERPOSED long GOMP_parallel##name(body_function* body, void* data, TEFF_WORDS) {          \
    TEFF_CALL("GOMP_parallel" #name);                                                              \
    if (call.called.has_ompt) region_function = reinterpret_cast<const void*>(body);               \
    seat* const thread = call.called.has_ompt ? nullptr : here();                                  \
    if (thread == nullptr) return call.go_on<long>(body, data, TEFF_SAME_WORDS);                   \
    team whole(*thread, site_of(reinterpret_cast<const void*>(body)), call.real);                  \
    region_data region{data == nullptr ? nullptr : *static_cast<void**>(data), body, data, &whole, \
                       &call.called};                                                              \
    const long result = call.go_on<long>(run_body, &region, TEFF_SAME_WORDS);                      \
    whole.end();                                                                                   \
    return result;                                                                                 \
  }
TEFF_DEFINE()
TEFF_DEFINE(_reductions)
TEFF_DEFINE(_loop_static)
TEFF_DEFINE(_loop_dynamic)
TEFF_DEFINE(_loop_guided)
TEFF_DEFINE(_loop_runtime)
TEFF_DEFINE(_loop_nonmonotonic_dynamic)
TEFF_DEFINE(_loop_nonmonotonic_guided)
TEFF_DEFINE(_loop_nonmonotonic_runtime)
TEFF_DEFINE(_loop_maybe_nonmonotonic_runtime)
TEFF_DEFINE(_sections)
#undef TEFF_DEFINE

#define TEFF_START(name, result, what) TEFF_STAND_BEFORE(name, result, next_chunk, what, true)
#define TEFF_NEXT(name, result, what)                                                     \
  TEFF_INTERPOSED result name(void* begin, void* end) {                                   \
    TEFF_CALL(#name);                                                                     \
    return next_chunk(call, [&] { return call.go_on<result>(begin, end); }, what, false); \
  }
#define TEFF_BOTH_STARTS(name) \
  TEFF_START(GOMP_loop_##name, bool, kind::chunk) TEFF_START(GOMP_loop_ull_##name, bool, kind::chunk)
#define TEFF_LOOP(name)                                 \
  TEFF_BOTH_STARTS(name##_start)                        \
  TEFF_NEXT(GOMP_loop_##name##_next, bool, kind::chunk) \
  TEFF_NEXT(GOMP_loop_ull_##name##_next, bool, kind::chunk)
TEFF_LOOP(static)
TEFF_LOOP(dynamic)
TEFF_LOOP(guided)
TEFF_LOOP(runtime)
TEFF_LOOP(nonmonotonic_dynamic)
TEFF_LOOP(nonmonotonic_guided)
TEFF_LOOP(nonmonotonic_runtime)
TEFF_LOOP(maybe_nonmonotonic_runtime)
TEFF_LOOP(ordered_static)
TEFF_LOOP(ordered_dynamic)
TEFF_LOOP(ordered_guided)
TEFF_LOOP(ordered_runtime)
TEFF_BOTH_STARTS(start)
TEFF_BOTH_STARTS(ordered_start)
TEFF_BOTH_STARTS(doacross_start)
TEFF_BOTH_STARTS(doacross_static_start)
TEFF_BOTH_STARTS(doacross_dynamic_start)
TEFF_BOTH_STARTS(doacross_guided_start)
TEFF_BOTH_STARTS(doacross_runtime_start)
TEFF_START(GOMP_sections_start, unsigned, kind::section)
TEFF_START(GOMP_sections2_start, unsigned, kind::section)
TEFF_NEXT(GOMP_sections_next, unsigned, kind::section)

#define TEFF_WAIT(name, why, ends_loop) TEFF_STAND_BEFORE(name, long, wait_on_libgomp, state::why, ends_loop)
TEFF_WAIT(GOMP_barrier, imbalance, false)
TEFF_WAIT(GOMP_barrier_cancel, imbalance, false)
TEFF_WAIT(GOMP_single_copy_start, imbalance, false)
TEFF_WAIT(GOMP_taskwait, dependences, false)
TEFF_WAIT(GOMP_taskwait_depend, dependences, false)
TEFF_WAIT(GOMP_taskgroup_end, dependences, false)
TEFF_WAIT(GOMP_taskyield, dispatch, false)
TEFF_WAIT(GOMP_ordered_start, dependences, false)
TEFF_WAIT(GOMP_doacross_wait, dependences, false)
TEFF_WAIT(GOMP_doacross_ull_wait, dependences, false)
TEFF_WAIT(GOMP_critical_start, lock, false)
TEFF_WAIT(GOMP_critical_name_start, lock, false)
TEFF_WAIT(GOMP_atomic_start, lock, false)
TEFF_WAIT(omp_set_lock, lock, false)
TEFF_WAIT(omp_set_nest_lock, lock, false)
TEFF_WAIT(GOMP_loop_end, imbalance, true)
TEFF_WAIT(GOMP_loop_end_cancel, imbalance, true)
TEFF_WAIT(GOMP_loop_end_nowait, dispatch, true)
TEFF_WAIT(GOMP_sections_end, imbalance, true)
TEFF_WAIT(GOMP_sections_end_cancel, imbalance, true)
TEFF_WAIT(GOMP_sections_end_nowait, dispatch, true)

TEFF_INTERPOSED void GOMP_task(body_function* body, void* data, copy_function* copy, std::size_t size,
                               std::size_t align, long deferred, unsigned flags, void** dependences,
                               long priority, void* event) {
  TEFF_CALL("GOMP_task");
  const auto go_on = [&](auto... what) {
    call.go_on<void>(what..., deferred, flags, dependences, priority, event);
  };
  if (makes_on_libomp(call, body, false, [&] { go_on(body, data, copy, size, align); })) return;
  task_head head{{}, (flags & detached) != 0 && data != nullptr, 0, body, {}};
  head.task.what = (flags & with_dependences) != 0 ? kind::dependent : kind::task;
  make_headed_task(call.caller, head, data, copy, size, align, go_on);
}

#define TEFF_DEFINE(name)                                                                           \
  TEFF_INTERPOSED void name(body_function* body, void* data, copy_function* copy, std::size_t size, \
                            std::size_t align, unsigned flags, unsigned long tasks, long priority,  \
                            long start, long end, long step) {                                      \
    TEFF_CALL(#name);                                                                               \
    const auto go_on = [&](auto... what) {                                                          \
      call.go_on<void>(what..., flags, tasks, priority, start, end, step);                          \
    };                                                                                              \
    if (makes_on_libomp(call, body, true, [&] { go_on(body, data, copy, size, align); })) return;   \
    task_head head{{}, 2, 0, body, {}};                                                             \
    head.task.what = kind::taskloop;                                                                \
    if ((flags & with_reduction) != 0) head.words[2] = static_cast<void**>(data)[2];                \
    make_headed_task(call.caller, head, data, copy, size, align, go_on);                            \
  }
TEFF_DEFINE(GOMP_taskloop)
TEFF_DEFINE(GOMP_taskloop_ull)
