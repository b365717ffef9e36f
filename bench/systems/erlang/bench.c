/* What bench.erl declares, by libteff_bench.so. What has an address is a whole number. */
#include <erl_nif.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "teff_bench.h"

#define BENCH(name) static ERL_NIF_TERM name(ErlNifEnv* env, int count, const ERL_NIF_TERM given[])

static int64_t number(ErlNifEnv* env, ERL_NIF_TERM term) {
  ErlNifSInt64 value = 0;
  enif_get_int64(env, term, &value);
  return value;
}

static void* pointer(ErlNifEnv* env, ERL_NIF_TERM term) {
  return (void*)(intptr_t)number(env, term);
}

static ERL_NIF_TERM address(ErlNifEnv* env, const void* of) {
  return enif_make_int64(env, (intptr_t)of);
}

static ERL_NIF_TERM ok(ErlNifEnv* env) {
  return enif_make_atom(env, "ok");
}

/* A copy of a binary as text. */
static char* text(ErlNifEnv* env, ERL_NIF_TERM term) {
  ErlNifBinary bytes = {0};
  enif_inspect_binary(env, term, &bytes);
  char* copy = calloc(bytes.size + 1, 1);
  if (bytes.size > 0) memcpy(copy, bytes.data, bytes.size);
  return copy;
}

/* Functions of numbers, `at`, which return one or nothing. */
enum { most_numbers = 4 };
#define NUMBERS             \
  int64_t at[most_numbers]; \
  for (int i = 0; i < most_numbers; ++i) at[i] = i < count ? number(env, given[i]) : 0
#define POINTER(index) ((void*)(intptr_t)at[index])
#define RETURNS_NUMBER(name, expression)       \
  BENCH(name) {                                \
    NUMBERS;                                   \
    return enif_make_int64(env, (expression)); \
  }
#define RETURNS_NOTHING(name, call) \
  BENCH(name) {                     \
    NUMBERS;                        \
    (call);                         \
    return ok(env);                 \
  }

RETURNS_NUMBER(workers, teff_session_workers(POINTER(0)))
RETURNS_NUMBER(next, (intptr_t)teff_session_next(POINTER(0), (int32_t)at[1]))
RETURNS_NOTHING(answer, teff_session_answer(POINTER(0), POINTER(1), NULL, 0))
RETURNS_NUMBER(close_session, teff_session_close(POINTER(0)))
RETURNS_NUMBER(graphs, teff_graphs(POINTER(0)))
RETURNS_NUMBER(steps, teff_steps(POINTER(0), (int32_t)at[1]))
RETURNS_NUMBER(width, teff_width(POINTER(0), (int32_t)at[1]))
RETURNS_NUMBER(cycle, teff_cycle(POINTER(0), (int32_t)at[1]))
RETURNS_NOTHING(start, teff_start(POINTER(0)))
RETURNS_NOTHING(stop, teff_stop(POINTER(0)))

/* The flags live as long as the program. */
BENCH(open_session) {
  unsigned length = 0;
  enif_get_list_length(env, given[0], &length);
  const char** flags = calloc(length + 1, sizeof *flags);
  ERL_NIF_TERM head;
  ERL_NIF_TERM tail = given[0];
  for (unsigned i = 0; enif_get_list_cell(env, tail, &head, &tail); ++i) flags[i] = text(env, head);
  (void)count;
  return address(env, teff_session_open((int32_t)length, flags));
}

BENCH(error) {
  (void)count, (void)given;
  return enif_make_string(env, teff_error(), ERL_NIF_LATIN1);
}

BENCH(identify) {
  (void)count;
  char* variant = text(env, given[1]);
  char* version = text(env, given[2]);
  const teff_identity who = {"erlang", variant, version, (int32_t)number(env, given[3]), 1};
  teff_session_identify(pointer(env, given[0]), &who);
  free(version);
  free(variant);
  return ok(env);
}

/* The first point of a timestep, and the one after the last. */
BENCH(points) {
  NUMBERS;
  int64_t first = 0;
  const int64_t all = teff_points(POINTER(0), (int32_t)at[1], at[2], &first);
  return enif_make_tuple2(env, enif_make_int64(env, first), enif_make_int64(env, first + all));
}

typedef int64_t (*points_of_task)(const teff_workload*, int32_t, int64_t, int64_t, int64_t*, int64_t);

static ERL_NIF_TERM list(ErlNifEnv* env, const int64_t at[], points_of_task ask) {
  const int64_t all = ask(POINTER(0), (int32_t)at[1], at[2], at[3], NULL, 0);
  int64_t* found = calloc((size_t)all + 1, sizeof *found);
  ask(POINTER(0), (int32_t)at[1], at[2], at[3], found, all);
  ERL_NIF_TERM made = enif_make_list(env, 0);
  for (int64_t i = all; i > 0; --i) made = enif_make_list_cell(env, enif_make_int64(env, found[i - 1]), made);
  free(found);
  return made;
}

/* inputs(Work, Graph, Timestep, Point), and consumers. */
BENCH(inputs) {
  NUMBERS;
  return list(env, at, teff_inputs);
}
BENCH(consumers) {
  NUMBERS;
  return list(env, at, teff_consumers);
}

/* The scheduler that calls, as a worker; from its first call on it is bound to a core. */
static int32_t this_worker(void) {
  static atomic_int workers;
  static _Thread_local int worker = -1;
  if (worker < 0) {
    worker = atomic_fetch_add(&workers, 1);
    teff_bind_to_core(worker);
  }
  return worker;
}

/* Tells the scheduler how much of a process's time slice of 1 ms a task took, in hundredths: it cannot see
 * that by itself, and goes by it when it shares out processes and wakes other schedulers. */
static void account(ErlNifEnv* env, ErlNifTime began) {
  enum { hundredth = 10000 }; /* ns */
  static _Thread_local ErlNifTime untold;
  untold += enif_monotonic_time(ERL_NIF_NSEC) - began;
  const ErlNifTime due = untold / hundredth;
  if (due == 0) return;
  enif_consume_timeslice(env, due < 100 ? (int)due : 100);
  untold %= hundredth;
}

/* execute_dirty(Work, Graph, Timestep, Point, Inputs): the output. */
BENCH(execute_dirty) {
  NUMBERS;
  enum { few = 64 };
  const void* few_inputs[few];
  size_t few_sizes[few];
  unsigned all = 0;
  enif_get_list_length(env, given[4], &all);
  const void** bytes = all <= few ? few_inputs : malloc(all * sizeof *bytes);
  size_t* sizes = all <= few ? few_sizes : malloc(all * sizeof *sizes);
  ERL_NIF_TERM head;
  ERL_NIF_TERM tail = given[4];
  for (unsigned i = 0; enif_get_list_cell(env, tail, &head, &tail); ++i) {
    ErlNifBinary input = {0};
    enif_inspect_binary(env, head, &input);
    bytes[i] = input.data;
    sizes[i] = input.size;
  }
  ERL_NIF_TERM output;
  const size_t room = (size_t)teff_output_bytes(POINTER(0), (int32_t)at[1]);
  unsigned char* const made = enif_make_new_binary(env, room, &output);
  teff_execute(POINTER(0), (int32_t)at[1], at[2], at[3], this_worker(), made, room, bytes, sizes, all);
  if (bytes != few_inputs) {
    free(bytes);
    free(sizes);
  }
  return output;
}

/* The same on the scheduler of the process. */
BENCH(execute) {
  const ErlNifTime began = enif_monotonic_time(ERL_NIF_NSEC);
  const ERL_NIF_TERM output = execute_dirty(env, count, given);
  account(env, began);
  return output;
}

static ErlNifFunc functions[] = {
    {"open", 1, open_session, 0},
    {"error", 0, error, 0},
    {"workers", 1, workers, 0},
    {"identify", 4, identify, 0},
    {"next", 2, next, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"answer", 2, answer, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"close", 1, close_session, 0},
    {"graphs", 1, graphs, 0},
    {"steps", 2, steps, 0},
    {"width", 2, width, 0},
    {"cycle", 2, cycle, 0},
    {"points", 3, points, 0},
    {"inputs", 4, inputs, 0},
    {"consumers", 4, consumers, 0},
    {"start", 1, start, 0},
    {"stop", 1, stop, 0},
    {"execute", 5, execute, 0},
    {"execute_dirty", 5, execute_dirty, ERL_NIF_DIRTY_JOB_CPU_BOUND},
};

ERL_NIF_INIT(bench, functions, NULL, NULL, NULL, NULL)
