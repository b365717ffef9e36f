// The names of the interposed functions. Those of a family have one signature.
#pragma once

#include <cstddef>

// GOMP_loop_<X>_start and _next, also GOMP_loop_ull_<X>_
#define TEFF_LOOPS(X)                                                                                        \
  X(static) X(dynamic) X(guided) X(runtime) X(nonmonotonic_dynamic) X(nonmonotonic_guided)                   \
  X(nonmonotonic_runtime) X(maybe_nonmonotonic_runtime) X(ordered_static) X(ordered_dynamic)                 \
  X(ordered_guided) X(ordered_runtime)

// GOMP_loop_<X>, also GOMP_loop_ull_<X>: starts without a next of their own
#define TEFF_STARTS(X)                                                                                       \
  X(start) X(ordered_start) X(doacross_start) X(doacross_static_start) X(doacross_dynamic_start)             \
  X(doacross_guided_start) X(doacross_runtime_start)

// GOMP_parallel<X>
#define TEFF_REGIONS(X)                                                                                      \
  X() X(_reductions) X(_loop_static) X(_loop_dynamic) X(_loop_guided) X(_loop_runtime)                       \
  X(_loop_nonmonotonic_dynamic) X(_loop_nonmonotonic_guided) X(_loop_nonmonotonic_runtime)                   \
  X(_loop_maybe_nonmonotonic_runtime) X(_sections)

// Functions that wait, with the state of the thread in them; likewise at the end of a loop or of sections
#define TEFF_WAITS(X)                                                                                        \
  X(GOMP_barrier, imbalance) X(GOMP_barrier_cancel, imbalance) X(GOMP_single_copy_start, imbalance)          \
  X(GOMP_taskwait, dependences) X(GOMP_taskwait_depend, dependences) X(GOMP_taskgroup_end, dependences)      \
  X(GOMP_taskyield, dispatch) X(GOMP_ordered_start, dependences) X(GOMP_critical_start, lock)                \
  X(GOMP_critical_name_start, lock) X(GOMP_atomic_start, lock) X(omp_set_lock, lock)                         \
  X(omp_set_nest_lock, lock)
#define TEFF_ENDS(X)                                                                                         \
  X(GOMP_loop_end, imbalance) X(GOMP_loop_end_cancel, imbalance) X(GOMP_loop_end_nowait, dispatch)           \
  X(GOMP_sections_end, imbalance) X(GOMP_sections_end_cancel, imbalance)                                     \
  X(GOMP_sections_end_nowait, dispatch)

#define TEFF_DISPATCHES(X)                                                                                   \
  X(__kmpc_dispatch_next_4) X(__kmpc_dispatch_next_4u) X(__kmpc_dispatch_next_8) X(__kmpc_dispatch_next_8u)

#define TEFF_OTHERS(X)                                                                                       \
  X(GOMP_sections_start) X(GOMP_sections2_start) X(GOMP_sections_next) X(GOMP_task) X(GOMP_taskloop)         \
  X(GOMP_taskloop_ull) X(__kmpc_omp_task_alloc) X(__kmpc_omp_task) X(__kmpc_omp_task_with_deps)              \
  X(__kmpc_taskloop) X(__kmpc_taskloop_5)

#define TEFF_LOOP_FUNCTIONS(Y, name)                                                                         \
  Y(GOMP_loop_##name##_start) Y(GOMP_loop_##name##_next) Y(GOMP_loop_ull_##name##_start)                     \
  Y(GOMP_loop_ull_##name##_next)

namespace teff::collect {

#define TEFF_NAME(name) name,
#define TEFF_WAIT(name, why) name,
#define TEFF_REGION(name) GOMP_parallel##name,
#define TEFF_START(name) GOMP_loop_##name, GOMP_loop_ull_##name,
#define TEFF_LOOP(name) TEFF_LOOP_FUNCTIONS(TEFF_NAME, name)
enum class function : std::size_t {
  TEFF_LOOPS(TEFF_LOOP) TEFF_STARTS(TEFF_START) TEFF_REGIONS(TEFF_REGION) TEFF_WAITS(TEFF_WAIT)
      TEFF_ENDS(TEFF_WAIT) TEFF_DISPATCHES(TEFF_NAME) TEFF_OTHERS(TEFF_NAME) count
};
#undef TEFF_NAME
#undef TEFF_WAIT
#undef TEFF_REGION
#undef TEFF_START

#define TEFF_NAME(name) #name,
#define TEFF_WAIT(name, why) #name,
#define TEFF_REGION(name) "GOMP_parallel" #name,
#define TEFF_START(name) "GOMP_loop_" #name, "GOMP_loop_ull_" #name,
inline constexpr const char* function_names[] = {TEFF_LOOPS(TEFF_LOOP) TEFF_STARTS(TEFF_START)
                                                     TEFF_REGIONS(TEFF_REGION) TEFF_WAITS(TEFF_WAIT)
                                                         TEFF_ENDS(TEFF_WAIT) TEFF_DISPATCHES(TEFF_NAME) TEFF_OTHERS(TEFF_NAME)};
#undef TEFF_NAME
#undef TEFF_WAIT
#undef TEFF_REGION
#undef TEFF_START
#undef TEFF_LOOP

inline constexpr std::size_t number_of_functions = static_cast<std::size_t>(function::count);
static_assert(sizeof function_names / sizeof *function_names == number_of_functions);

} // namespace teff::collect
