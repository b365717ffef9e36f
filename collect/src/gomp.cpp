// The functions that GCC's programs call. Each goes on to libgomp, whose bodies come back through run_body() and run_task(). If
// they go on to libomp, only what OMPT lacks is noted here: creation and dispatch.
#include <alloca.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "calls.hpp"
#include "runtimes.hpp"
#include "seat.hpp"
#include "team.hpp"

#define TEFF_INTERPOSED extern "C" [[gnu::visibility("default")]]

namespace teff::collect {

namespace {

using body_function = void(void*);
using copy_function = void(void* to, void* from);

// ---- regions

// Takes the place of the region's data. libgomp reads the first word of the data of a region with task reductions.
struct region_data {
  void* first_word;
  body_function* body;
  void* data;
  team* whole;
};

void run_body(void* argument) {
  const auto& region = *static_cast<region_data*>(argument);
  const bool kept = region.whole->begin_body();
  region.body(region.data);
  if (kept && me != nullptr) me->enter(state::imbalance);
}

// Of all signatures, with the arguments as they lie in registers and on the stack: integers and pointers. Some functions take
// fewer, and ignore the rest.
using region_function = long(body_function*, void*, long, long, long, long, long, long);

template <function which>
long run_region(const void* caller, body_function* body, void* data, long a, long b, long c, long d, long e, long f) {
  const runtime& called = runtime_of(caller);
  auto* const real = called.call<region_function>(which);
  seat* thread = called.has_ompt ? nullptr : here();
  if (thread == nullptr) return real(body, data, a, b, c, d, e, f);
  team whole(*thread, reinterpret_cast<const void*>(body), module_of(called, which));
  region_data region{data == nullptr ? nullptr : *static_cast<void**>(data), body, data, &whole};
  const long result = real(run_body, &region, a, b, c, d, e, f);
  whole.end();
  return result;
}

// ---- tasks

// Comes before a task's data. libgomp writes the bounds of a taskloop's task, or the handle of a detached task, into the first words of what
// it takes for the data. It reads the third word of the data of a taskloop with reductions.
struct task_head {
  std::array<void*, 3> words;
  std::size_t words_written; // by libgomp, which belong into the data
  std::size_t data_offset;
  body_function* body;
  activation task;
};

// What the copying function is given in place of the data.
struct task_source {
  task_head head;
  void* data;
  copy_function* copy;
};

constexpr unsigned with_dependences = 8, with_reduction = 4096, detached = 8192;

char* data_of(task_head& head) { return reinterpret_cast<char*>(&head) + head.data_offset; }

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

// The task's data with a head before them. `go_on` gives them to libgomp, as it would give the data themselves.
template <class GoOn>
void make_task(seat& thread, task_head head, void* data, copy_function* copy, std::size_t size, std::size_t align, GoOn go_on) {
  align = std::max({align, alignof(task_head), std::size_t{1}});
  head.data_offset = (sizeof(task_head) + align - 1) & ~(align - 1);
  size += head.data_offset;
  const creation made(thread);
  head.task.created = thread.since();
  if (copy != nullptr) {
    task_source source{head, data, copy};
    go_on(&source, copy_task, size, align);
    return;
  }
  // libgomp would copy the bytes. It does not drop a cancelled task that has a copying function, so there must be none here.
  auto place = reinterpret_cast<std::uintptr_t>(alloca(size + align));
  void* const whole = reinterpret_cast<void*>((place + align - 1) & ~(align - 1));
  new (whole) task_head(head);
  std::memcpy(static_cast<char*>(whole) + head.data_offset, data, size - head.data_offset);
  go_on(whole, nullptr, size, align);
}

using task_function = void(body_function*, void*, copy_function*, long, long, bool, unsigned, void**, int, void*);
using taskloop_function = void(body_function*, void*, copy_function*, std::size_t, std::size_t, unsigned, unsigned long, int,
                               long, long, long);

template <function which>
void make_taskloop(const void* caller, body_function* body, void* data, copy_function* copy, std::size_t size, std::size_t align,
                   unsigned flags, unsigned long tasks, int priority, long start, long end, long step) {
  const runtime& called = runtime_of(caller);
  auto* const real = called.call<taskloop_function>(which);
  const auto unchanged = [&] { real(body, data, copy, size, align, flags, tasks, priority, start, end, step); };
  if (called.has_ompt) return make_by_libomp(caller, true, unchanged);
  seat* thread = calling_seat();
  if (thread == nullptr) return unchanged();
  task_head head{{}, 2, 0, body, {}};
  head.task.address = reinterpret_cast<const void*>(body);
  head.task.what = kind::taskloop;
  if ((flags & with_reduction) != 0) head.words[2] = static_cast<void**>(data)[2];
  make_task(*thread, head, data, copy, size, align,
            [&](void* whole, copy_function* copies, std::size_t bytes, std::size_t aligned) {
              real(run_task, whole, copies, bytes, aligned, flags, tasks, priority, start, end, step);
            });
}

// ---- loops, sections, waits

// With the arguments as they lie in registers and on the stack, as of regions.
using start_function = bool(long, long, long, long, long, long, long, long, long, long);

template <function which>
bool start_loop(const void* caller, long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
  auto* const real = runtime_of(caller).call<start_function>(which);
  return next_chunk(kind::chunk, nullptr, [&] { return real(a, b, c, d, e, f, g, h, i, j); });
}

template <function which, class Word>
bool next_in_loop(const void* caller, Word* begin, Word* end) {
  auto* const real = runtime_of(caller).call<bool(Word*, Word*)>(which);
  return next_chunk(kind::chunk, caller, [&] { return real(begin, end); });
}

template <function which>
long wait_for(const void* caller, state why, bool ends_loop, long a, long b) {
  const runtime& called = runtime_of(caller);
  auto* const real = called.call<long(long, long)>(which);
  seat* thread = me;
  if (thread == nullptr || thread->current == nullptr || called.has_ompt) return real(a, b);
  const kind what = thread->current->what;
  if (ends_loop && (what == kind::chunk || what == kind::section)) thread->end_part(false); // the loop was cancelled
  thread->enter(why);
  const long result = real(a, b);
  thread->end_wait(thread->current->inside());
  return result;
}

} // namespace

} // namespace teff::collect

using teff::collect::function;
using teff::collect::kind;
using teff::collect::state;

#define TEFF_CALLER __builtin_return_address(0)

#define TEFF_DEFINE(name)                                                                                    \
  TEFF_INTERPOSED long GOMP_parallel##name(teff::collect::body_function* body, void* data, long a, long b,   \
                                           long c, long d, long e, long f) {                                 \
    return teff::collect::run_region<function::GOMP_parallel##name>(TEFF_CALLER, body, data, a, b, c, d, e,  \
                                                                    f);                                      \
  }
TEFF_REGIONS(TEFF_DEFINE)
#undef TEFF_DEFINE

#define TEFF_DEFINE(name)                                                                                    \
  TEFF_INTERPOSED bool name(long a, long b, long c, long d, long e, long f, long g, long h, long i,          \
                            long j) {                                                                        \
    return teff::collect::start_loop<function::name>(TEFF_CALLER, a, b, c, d, e, f, g, h, i, j);             \
  }
#define TEFF_DEFINE_NEXT(name, word)                                                                         \
  TEFF_INTERPOSED bool name(word* begin, word* end) {                                                        \
    return teff::collect::next_in_loop<function::name>(TEFF_CALLER, begin, end);                             \
  }
#define TEFF_DEFINE_STARTS(name) TEFF_DEFINE(GOMP_loop_##name) TEFF_DEFINE(GOMP_loop_ull_##name)
#define TEFF_DEFINE_LOOP(name)                                                                               \
  TEFF_DEFINE_STARTS(name##_start)                                                                           \
  TEFF_DEFINE_NEXT(GOMP_loop_##name##_next, long)                                                            \
  TEFF_DEFINE_NEXT(GOMP_loop_ull_##name##_next, unsigned long long)
TEFF_STARTS(TEFF_DEFINE_STARTS)
TEFF_LOOPS(TEFF_DEFINE_LOOP)
#undef TEFF_DEFINE

#define TEFF_DEFINE(name, why)                                                                               \
  TEFF_INTERPOSED long name(long a, long b) {                                                                \
    return teff::collect::wait_for<function::name>(TEFF_CALLER, state::why, false, a, b);                    \
  }
TEFF_WAITS(TEFF_DEFINE)
#undef TEFF_DEFINE
#define TEFF_DEFINE(name, why)                                                                               \
  TEFF_INTERPOSED long name(long a, long b) {                                                                \
    return teff::collect::wait_for<function::name>(TEFF_CALLER, state::why, true, a, b);                     \
  }
TEFF_ENDS(TEFF_DEFINE)
#undef TEFF_DEFINE

TEFF_INTERPOSED unsigned GOMP_sections_start(unsigned count) {
  auto* const real = teff::collect::runtime_of(TEFF_CALLER).call<unsigned(unsigned)>(function::GOMP_sections_start);
  return teff::collect::next_chunk(kind::section, nullptr, [&] { return real(count); });
}
TEFF_INTERPOSED unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  auto* const real = teff::collect::runtime_of(TEFF_CALLER)
                         .call<unsigned(unsigned, std::uintptr_t*, void**)>(function::GOMP_sections2_start);
  return teff::collect::next_chunk(kind::section, nullptr, [&] { return real(count, reductions, memory); });
}
TEFF_INTERPOSED unsigned GOMP_sections_next() {
  const void* const caller = TEFF_CALLER;
  auto* const real = teff::collect::runtime_of(caller).call<unsigned()>(function::GOMP_sections_next);
  return teff::collect::next_chunk(kind::section, caller, [&] { return real(); });
}

TEFF_INTERPOSED void GOMP_task(teff::collect::body_function* body, void* data, teff::collect::copy_function* copy, long size,
                               long align, bool deferred, unsigned flags, void** dependences, int priority, void* event) {
  using namespace teff::collect;
  const void* const caller = TEFF_CALLER;
  const runtime& called = runtime_of(caller);
  auto* const real = called.call<task_function>(function::GOMP_task);
  const auto unchanged = [&] { real(body, data, copy, size, align, deferred, flags, dependences, priority, event); };
  if (called.has_ompt) return make_by_libomp(caller, false, unchanged);
  seat* thread = calling_seat();
  if (thread == nullptr) return unchanged();
  task_head head{{}, (flags & detached) != 0 && data != nullptr, 0, body, {}};
  head.task.address = reinterpret_cast<const void*>(body);
  head.task.what = kind::task;
  head.task.dependent = (flags & with_dependences) != 0;
  make_task(*thread, head, data, copy, static_cast<std::size_t>(size), static_cast<std::size_t>(align),
            [&](void* whole, copy_function* copies, std::size_t bytes, std::size_t aligned) {
              real(run_task, whole, copies, static_cast<long>(bytes), static_cast<long>(aligned), deferred, flags, dependences,
                   priority, event);
            });
}

#define TEFF_DEFINE(name)                                                                                    \
  TEFF_INTERPOSED void name(teff::collect::body_function* body, void* data,                                  \
                            teff::collect::copy_function* copy, long size, long align, unsigned flags,       \
                            unsigned long tasks, int priority, long start, long end, long step) {            \
    teff::collect::make_taskloop<function::name>(TEFF_CALLER, body, data, copy,                              \
                                                 static_cast<std::size_t>(size),                             \
                                                 static_cast<std::size_t>(align), flags, tasks, priority,    \
                                                 start, end, step);                                          \
  }
TEFF_DEFINE(GOMP_taskloop)
TEFF_DEFINE(GOMP_taskloop_ull)
#undef TEFF_DEFINE
