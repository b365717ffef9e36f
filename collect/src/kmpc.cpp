// The functions that Clang's programs call of libomp and whose time OMPT does not tell: creation and dispatch.
#include <cstddef>
#include <cstdint>

#include "calls.hpp"
#include "runtimes.hpp"
#include "seat.hpp"

#define TEFF_INTERPOSED extern "C" [[gnu::visibility("default")]]
#define TEFF_CALLER __builtin_return_address(0)

using teff::collect::function;
using teff::collect::kind;
using teff::collect::make_by_libomp;
using teff::collect::runtime_of;

// The creation goes on from here to the call that submits the task. Between them the program fills in the task's data.
TEFF_INTERPOSED void* __kmpc_omp_task_alloc(void* place, int thread, int flags, std::size_t size, std::size_t shared, void* entry) {
  auto* const real = runtime_of(TEFF_CALLER)
                         .call<void*(void*, int, int, std::size_t, std::size_t, void*)>(function::__kmpc_omp_task_alloc);
  auto* const seat = teff::collect::calling_seat();
  if (seat != nullptr && seat->doing() == teff::collect::state::body) seat->enter(teff::collect::state::creation);
  return real(place, thread, flags, size, shared, entry);
}

TEFF_INTERPOSED int __kmpc_omp_task(void* place, int thread, void* task) {
  const void* const caller = TEFF_CALLER;
  auto* const real = runtime_of(caller).call<int(void*, int, void*)>(function::__kmpc_omp_task);
  return make_by_libomp(caller, false, [&] { return real(place, thread, task); });
}

TEFF_INTERPOSED int __kmpc_omp_task_with_deps(void* place, int thread, void* task, int count, void* dependences, int count_noalias,
                                              void* noalias) {
  const void* const caller = TEFF_CALLER;
  auto* const real =
      runtime_of(caller).call<int(void*, int, void*, int, void*, int, void*)>(function::__kmpc_omp_task_with_deps);
  return make_by_libomp(caller, false, [&] { return real(place, thread, task, count, dependences, count_noalias, noalias); });
}

TEFF_INTERPOSED void __kmpc_taskloop(void* place, int thread, void* task, int condition, std::uint64_t* first, std::uint64_t* last,
                                     std::int64_t step, int no_group, int schedule, std::uint64_t grain, void* duplicate) {
  const void* const caller = TEFF_CALLER;
  auto* const real = runtime_of(caller)
                         .call<void(void*, int, void*, int, std::uint64_t*, std::uint64_t*, std::int64_t, int, int, std::uint64_t,
                                    void*)>(function::__kmpc_taskloop);
  make_by_libomp(caller, true,
                 [&] { real(place, thread, task, condition, first, last, step, no_group, schedule, grain, duplicate); });
}

TEFF_INTERPOSED void __kmpc_taskloop_5(void* place, int thread, void* task, int condition, std::uint64_t* first,
                                       std::uint64_t* last, std::int64_t step, int no_group, int schedule, std::uint64_t grain,
                                       int modifier, void* duplicate) {
  const void* const caller = TEFF_CALLER;
  auto* const real = runtime_of(caller)
                         .call<void(void*, int, void*, int, std::uint64_t*, std::uint64_t*, std::int64_t, int, int, std::uint64_t,
                                    int, void*)>(function::__kmpc_taskloop_5);
  make_by_libomp(caller, true,
                 [&] { real(place, thread, task, condition, first, last, step, no_group, schedule, grain, modifier, duplicate); });
}

#define TEFF_DEFINE(name)                                                                                    \
  TEFF_INTERPOSED int name(void* place, int thread, int* last, void* lower, void* upper, void* step) {       \
    const void* const caller = TEFF_CALLER;                                                                  \
    auto* const real = runtime_of(caller).call<int(void*, int, int*, void*, void*, void*)>(function::name);  \
    return teff::collect::next_chunk(kind::chunk, caller,                                                    \
                                     [&] { return real(place, thread, last, lower, upper, step); });         \
  }
TEFF_DISPATCHES(TEFF_DEFINE)
#undef TEFF_DEFINE
