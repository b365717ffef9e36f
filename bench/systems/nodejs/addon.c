/* libteff_bench.so for Node.js, as bench/task_graph/include/teff_bench.h describes it. What has an address is
 * a number: addresses are whole numbers below 2^53. Each worker thread loads this for itself. */
#include <node_api.h>
#include <stdlib.h>

#include "teff_bench.h"

enum { most_arguments = 5 };

/* Numbers that the function was called with. */
static void read_arguments(napi_env env, napi_callback_info info, int64_t* numbers) {
  napi_value arguments[most_arguments];
  size_t count = most_arguments;
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  for (size_t i = 0; i < most_arguments; ++i)
    if (i >= count || napi_get_value_int64(env, arguments[i], &numbers[i]) != napi_ok) numbers[i] = 0;
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

static napi_value workers(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  return number(env, teff_session_workers(pointer(given[0])));
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
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  return kept(env, teff_session_next(pointer(given[0]), (int32_t)given[1]));
}

static napi_value answer(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  teff_session_answer(pointer(given[0]), pointer(given[1]), NULL, 0);
  return NULL;
}

static napi_value close_session(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  return number(env, teff_session_close(pointer(given[0])));
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

static napi_value destroy(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  teff_workload_free(pointer(given[0]));
  return NULL;
}

static napi_value graphs(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  return number(env, teff_graphs(pointer(given[0])));
}

static napi_value steps(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  return number(env, teff_steps(pointer(given[0]), (int32_t)given[1]));
}

static napi_value width(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  return number(env, teff_width(pointer(given[0]), (int32_t)given[1]));
}

static napi_value cycle(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  return number(env, teff_cycle(pointer(given[0]), (int32_t)given[1]));
}

static napi_value list(napi_env env, const int64_t* values, int64_t count) {
  napi_value made;
  napi_create_array_with_length(env, (size_t)count, &made);
  for (int64_t i = 0; i < count; ++i) napi_set_element(env, made, (uint32_t)i, number(env, values[i]));
  return made;
}

/* points(work, graph, timestep): the first, and the one after the last. */
static napi_value points(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments], bounds[2] = {0, 0};
  read_arguments(env, info, given);
  bounds[1] = teff_points(pointer(given[0]), (int32_t)given[1], given[2], &bounds[0]);
  bounds[1] += bounds[0];
  return list(env, bounds, 2);
}

/* predecessors(work, graph, timestep, point) */
static napi_value predecessors(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  const teff_workload* work = pointer(given[0]);
  const int64_t room = teff_width(work, (int32_t)given[1]);
  int64_t* found = calloc((size_t)room + 1, sizeof *found);
  const int64_t count = teff_predecessors(work, (int32_t)given[1], given[2], given[3], found, room);
  napi_value made = list(env, found, count);
  free(found);
  return made;
}

static napi_value start(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  teff_start(pointer(given[0]));
  return NULL;
}

static napi_value stop(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  teff_stop(pointer(given[0]));
  return NULL;
}

/* execute(work, graph, timestep, point, worker) */
static napi_value execute(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  teff_execute_kept(pointer(given[0]), (int32_t)given[1], given[2], given[3], (int32_t)given[4]);
  return NULL;
}

static napi_value usable_cores(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, teff_usable_cores());
}

static napi_value bind_to_core(napi_env env, napi_callback_info info) {
  int64_t given[most_arguments];
  read_arguments(env, info, given);
  teff_bind_to_core((int32_t)given[0]);
  return NULL;
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
