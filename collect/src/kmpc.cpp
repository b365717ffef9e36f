// The functions that Clang's programs call of libomp and whose time OMPT does not tell: creation, dispatch,
// and the waits of doacross loops.
#include <array>
#include <cstdarg>
#include <tuple>

#include "calls.hpp"

namespace teff::collect {

namespace {

// Goes on with `most` words. A function that takes fewer ignores the rest.
template <std::size_t most>
[[gnu::noinline]] void begin_region(const incoming_call& call, const void* where, int variables,
                                    const void* function, va_list words) {
  std::array<void*, most> all{};
  for (int i = 0; i < variables; ++i) all[static_cast<std::size_t>(i)] = va_arg(words, void*);
  const auto real = reinterpret_cast<void (*)(const void*, int, const void*, ...)>(call.real);
  std::apply([&](auto... each) { real(where, variables, function, each...); }, all);
}

}  // namespace

}  // namespace teff::collect

using namespace teff::collect;

// The region's variables are arguments: as many words as `variables` says.
TEFF_INTERPOSED void __kmpc_fork_call(const void* where, int variables, const void* function, ...) {
  TEFF_CALL("__kmpc_fork_call");
  constexpr int few = 16, most = 1024;
  if (variables > most) __builtin_trap();  // the call can't go on
  region_function = function;
  va_list words;
  va_start(words, function);
  variables <= few ? begin_region<few>(call, where, variables, function, words)
                   : begin_region<most>(call, where, variables, function, words);
  va_end(words);
}

// The creation goes on from here to the call that submits the task. Between them the program fills in the
// task's data.
TEFF_INTERPOSED void* __kmpc_omp_task_alloc(long a, long b, long c, long d, long e, const void* function) {
  TEFF_CALL("__kmpc_omp_task_alloc");
  seat* const thread = calling_seat();
  if (thread != nullptr && thread->doing() == state::body) thread->enter(state::creation);
  if (thread != nullptr) thread->current->makes = function;
  return call.go_on<void*>(a, b, c, d, e, function);
}

TEFF_STAND_BEFORE(__kmpc_omp_task, int, make_in, false)
TEFF_STAND_BEFORE(__kmpc_omp_task_with_deps, int, make_in, false)
TEFF_STAND_BEFORE(__kmpc_taskloop, int, make_in, true)
TEFF_STAND_BEFORE(__kmpc_taskloop_5, int, make_in, true)
TEFF_STAND_BEFORE(__kmpc_doacross_wait, long, wait_in, state::dependences)

#define TEFF_DEFINE(name)                                                                           \
  TEFF_INTERPOSED int name(long a, long b, long c, long d, long e, long f) {                        \
    TEFF_CALL(#name);                                                                               \
    return next_chunk(call, [&] { return call.go_on<int>(a, b, c, d, e, f); }, kind::chunk, false); \
  }
TEFF_DEFINE(__kmpc_dispatch_next_4)
TEFF_DEFINE(__kmpc_dispatch_next_4u)
TEFF_DEFINE(__kmpc_dispatch_next_8)
TEFF_DEFINE(__kmpc_dispatch_next_8u)
