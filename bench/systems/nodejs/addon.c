/* libteff_bench.so for Node.js, as bench/task_graph/include/teff_bench.h describes it. What has an address is
 * a number: addresses are whole numbers below 2^53. Each worker thread loads this for itself. */
#include <node_api.h>
#include <stdlib.h>

#include "teff_bench.h"

/* What a function was called with: numbers, 0 where there are fewer. */
typedef struct numbers {
  int64_t at[5];
} numbers;

enum { most_numbers = sizeof(numbers) / sizeof(int64_t) };

static numbers read_numbers(napi_env env, napi_callback_info info) {
  napi_value arguments[most_numbers];
  size_t count = most_numbers;
  numbers given = {{0}};
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  for (size_t i = 0; i < count && i < most_numbers; ++i)
    if (napi_get_value_int64(env, arguments[i], &given.at[i]) != napi_ok) given.at[i] = 0;
  return given;
}

static napi_value number(napi_env env, int64_t value) {
  napi_value result = NULL;
  napi_create_int64(env, value, &result);
  return result;
}

static napi_value address(napi_env env, const void* of) {
  return number(env, (int64_t)(intptr_t)of);
}

static void* pointer(int64_t address) {
  return (void*)(intptr_t)address;
}

/* Functions that take numbers, `at`, and return one or nothing. */
#define RETURNS_NUMBER(name, expression)                          \
  static napi_value name(napi_env env, napi_callback_info info) { \
    const numbers given = read_numbers(env, info);                \
    const int64_t* const at = given.at;                           \
    return number(env, (expression));                             \
  }
#define RETURNS_NOTHING(name, call)                               \
  static napi_value name(napi_env env, napi_callback_info info) { \
    const numbers given = read_numbers(env, info);                \
    const int64_t* const at = given.at;                           \
    (call);                                                       \
    return NULL;                                                  \
  }

RETURNS_NUMBER(workers, teff_session_workers(pointer(at[0])))
RETURNS_NOTHING(answer, teff_session_answer(pointer(at[0]), pointer(at[1]), NULL, 0))
RETURNS_NUMBER(close_session, teff_session_close(pointer(at[0])))
RETURNS_NOTHING(destroy, teff_workload_free(pointer(at[0])))
RETURNS_NUMBER(graphs, teff_graphs(pointer(at[0])))
RETURNS_NUMBER(steps, teff_steps(pointer(at[0]), (int32_t)at[1]))
RETURNS_NUMBER(width, teff_width(pointer(at[0]), (int32_t)at[1]))
RETURNS_NUMBER(cycle, teff_cycle(pointer(at[0]), (int32_t)at[1]))
RETURNS_NOTHING(start, teff_start(pointer(at[0])))
RETURNS_NOTHING(stop, teff_stop(pointer(at[0])))
/* execute(work, graph, timestep, point, worker) */
RETURNS_NOTHING(execute, teff_execute_kept(pointer(at[0]), (int32_t)at[1], at[2], at[3], (int32_t)at[4]))
RETURNS_NOTHING(bind_to_core, teff_bind_to_core((int32_t)at[0]))

/* A copy of the function's argument, which is a string. */
static char* read_text(napi_env env, napi_value value) {
  size_t length = 0;
  napi_get_value_string_utf8(env, value, NULL, 0, &length);
  char* text = calloc(length + 1, 1);
  napi_get_value_string_utf8(env, value, text, length + 1, &length);
  return text;
}

/* open(flags): the session's address, or 0. The flags live as long as the program. */
static napi_value open_session(napi_env env, napi_callback_info info) {
  napi_value list, word;
  size_t one = 1;
  uint32_t count = 0;
  napi_get_cb_info(env, info, &one, &list, NULL, NULL);
  napi_get_array_length(env, list, &count);
  const char** flags = calloc(count + 1, sizeof *flags);
  for (uint32_t i = 0; i < count; ++i) {
    napi_get_element(env, list, i, &word);
    flags[i] = read_text(env, word);
  }
  return address(env, teff_session_open((int32_t)count, flags));
}

static napi_value error(napi_env env, napi_callback_info info) {
  (void)info;
  napi_value text;
  napi_create_string_utf8(env, teff_error(), NAPI_AUTO_LENGTH, &text);
  return text;
}

/* identify(session, workers, variant, version) */
static napi_value identify(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  size_t count = 4;
  int64_t session = 0;
  int32_t of = 0;
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  napi_get_value_int64(env, arguments[0], &session);
  napi_get_value_int32(env, arguments[1], &of);
  char* variant = read_text(env, arguments[2]);
  char* version = read_text(env, arguments[3]);
  const teff_identity who = {"nodejs", variant, version, of, 1};
  teff_session_identify(pointer(session), &who);
  free(variant);
  free(version);
  return NULL;
}

static napi_value kept(napi_env env, teff_workload* work) {
  if (work != NULL) teff_keep_outputs(work);
  return address(env, work);
}

static napi_value next(napi_env env, napi_callback_info info) {
  const numbers given = read_numbers(env, info);
  return kept(env, teff_session_next(pointer(given.at[0]), (int32_t)given.at[1]));
}

/* create(flags, workers) */
static napi_value create(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  size_t count = 2;
  int32_t of = 0;
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  napi_get_value_int32(env, arguments[1], &of);
  char* flags = read_text(env, arguments[0]);
  napi_value made = kept(env, teff_workload_new(flags, of));
  free(flags);
  return made;
}

static napi_value list(napi_env env, const int64_t* values, int64_t count) {
  napi_value made;
  napi_create_array_with_length(env, (size_t)count, &made);
  for (int64_t i = 0; i < count; ++i) napi_set_element(env, made, (uint32_t)i, number(env, values[i]));
  return made;
}

/* points(work, graph, timestep): the first, and the one after the last. */
static napi_value points(napi_env env, napi_callback_info info) {
  const numbers given = read_numbers(env, info);
  int64_t bounds[2] = {0, 0};
  bounds[1] = teff_points(pointer(given.at[0]), (int32_t)given.at[1], given.at[2], &bounds[0]);
  bounds[1] += bounds[0];
  return list(env, bounds, 2);
}

/* predecessors(work, graph, timestep, point) */
static napi_value predecessors(napi_env env, napi_callback_info info) {
  const numbers given = read_numbers(env, info);
  const teff_workload* work = pointer(given.at[0]);
  const int32_t graph = (int32_t)given.at[1];
  const int64_t room = teff_width(work, graph);
  int64_t* found = calloc((size_t)room + 1, sizeof *found);
  const int64_t count = teff_predecessors(work, graph, given.at[2], given.at[3], found, room);
  napi_value made = list(env, found, count);
  free(found);
  return made;
}

static napi_value usable_cores(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, teff_usable_cores());
}

NAPI_MODULE_INIT() {
  const struct {
    const char* name;
    napi_callback call;
  } functions[] = {{"open", open_session},
                   {"error", error},
                   {"workers", workers},
                   {"identify", identify},
                   {"next", next},
                   {"answer", answer},
                   {"close", close_session},
                   {"create", create},
                   {"destroy", destroy},
                   {"graphs", graphs},
                   {"steps", steps},
                   {"width", width},
                   {"cycle", cycle},
                   {"points", points},
                   {"predecessors", predecessors},
                   {"start", start},
                   {"stop", stop},
                   {"execute", execute},
                   {"usableCores", usable_cores},
                   {"bindToCore", bind_to_core}};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    napi_value function;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
