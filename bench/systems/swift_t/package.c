/* The package "teff" of Tcl, into which Swift/T compiles: the task bench for one rank, which is one worker.
 * Bytes are byte arrays of Tcl. As strings, as which Turbine carries them, these have no zero byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tcl.h>
#include <unistd.h>

#include "teff_bench.h"

static teff_session* session; /* of the first rank: it reads what to run, and answers */
static teff_workload* work;   /* what is being run */

#define COMMAND(name) static int name(ClientData data, Tcl_Interp* tcl, int count, Tcl_Obj* const given[])

/* Commands of whole numbers, `at`, which return one. */
enum { most_numbers = 4 };
static int read_numbers(Tcl_Interp* tcl, int count, Tcl_Obj* const given[], Tcl_WideInt at[most_numbers]) {
  memset(at, 0, most_numbers * sizeof *at);
  for (int i = 0; i < count && i < most_numbers; ++i)
    if (Tcl_GetWideIntFromObj(tcl, given[i], &at[i]) != TCL_OK) return TCL_ERROR;
  return TCL_OK;
}
#define RETURNS_NUMBER(name, expression)                                         \
  COMMAND(name) {                                                                \
    (void)data;                                                                  \
    Tcl_WideInt at[most_numbers];                                                \
    if (read_numbers(tcl, count - 1, given + 1, at) != TCL_OK) return TCL_ERROR; \
    Tcl_SetObjResult(tcl, Tcl_NewWideIntObj(expression));                        \
    return TCL_OK;                                                               \
  }

static int64_t first_point(int32_t graph, int64_t timestep) {
  int64_t first = 0;
  teff_points(work, graph, timestep, &first);
  return first;
}

enum { few = 64 }; /* inputs for which nothing is allocated */

static int64_t input_point(int32_t graph, int64_t timestep, int64_t point, int64_t index) {
  int64_t few_points[few];
  const int64_t all = teff_inputs(work, graph, timestep, point, few_points, few);
  if (all <= few) return few_points[index];
  int64_t* const points = malloc((size_t)all * sizeof *points);
  teff_inputs(work, graph, timestep, point, points, all);
  const int64_t found = points[index];
  free(points);
  return found;
}

RETURNS_NUMBER(graphs, teff_graphs(work))
RETURNS_NUMBER(steps, teff_steps(work, (int32_t)at[0]))
RETURNS_NUMBER(width, teff_width(work, (int32_t)at[0]))
RETURNS_NUMBER(first, first_point((int32_t)at[0], at[1]))
RETURNS_NUMBER(last, first_point((int32_t)at[0], at[1]) + teff_points(work, (int32_t)at[0], at[1], NULL) - 1)
RETURNS_NUMBER(inputs, teff_inputs(work, (int32_t)at[0], at[1], at[2], NULL, 0))
RETURNS_NUMBER(input, input_point((int32_t)at[0], at[1], at[2], at[3]))
RETURNS_NUMBER(readers, teff_consumers(work, (int32_t)at[0], at[1], at[2], NULL, 0))
RETURNS_NUMBER(start, (teff_start(work), 0))
RETURNS_NUMBER(stop, (teff_stop(work), 0))

/* Executes a task whose inputs are these byte arrays; its output is the result. */
static int execute_task(Tcl_Interp* tcl, Tcl_Obj* const task[], Tcl_Obj* const inputs[], int count) {
  Tcl_WideInt at[most_numbers];
  if (read_numbers(tcl, 3, task, at) != TCL_OK) return TCL_ERROR;
  const void* few_inputs[few];
  size_t few_sizes[few];
  const void** const bytes = count <= few ? few_inputs : malloc((size_t)count * sizeof *bytes);
  size_t* const sizes = count <= few ? few_sizes : malloc((size_t)count * sizeof *sizes);
  for (int i = 0; i < count; ++i) {
    int size = 0;
    bytes[i] = Tcl_GetByteArrayFromObj(inputs[i], &size);
    sizes[i] = (size_t)size;
  }
  Tcl_Obj* const output = Tcl_NewByteArrayObj(NULL, 0);
  const int room = (int)teff_output_bytes(work, (int32_t)at[0]);
  teff_execute(work, (int32_t)at[0], at[1], at[2], 0, Tcl_SetByteArrayLength(output, room), (size_t)room,
               bytes, sizes, count);
  if (bytes != few_inputs) {
    free(bytes);
    free(sizes);
  }
  Tcl_SetObjResult(tcl, output);
  return TCL_OK;
}

/* execute GRAPH TIMESTEP POINT INPUT... */
COMMAND(execute) {
  (void)data;
  return execute_task(tcl, given + 1, given + 4, count - 4);
}

/* The values of a dictionary whose keys are 0, 1, 2 and so on, in any order. */
static Tcl_Obj** values_by_key(Tcl_Interp* tcl, Tcl_Obj* dictionary, int* count) {
  Tcl_DictObjSize(tcl, dictionary, count);
  Tcl_Obj** const values = calloc((size_t)*count + 1, sizeof *values);
  Tcl_DictSearch search;
  Tcl_Obj* key = NULL;
  Tcl_Obj* value = NULL;
  int is_done = 0;
  for (Tcl_DictObjFirst(tcl, dictionary, &search, &key, &value, &is_done); !is_done;
       Tcl_DictObjNext(&search, &key, &value, &is_done)) {
    int index = 0;
    Tcl_GetIntFromObj(tcl, key, &index);
    values[index] = value;
  }
  Tcl_DictObjDone(&search);
  return values;
}

/* execute_all GRAPH TIMESTEP POINT {0 INPUT 1 INPUT...} */
COMMAND(execute_all) {
  (void)data, (void)count;
  int all = 0;
  Tcl_Obj** const values = values_by_key(tcl, given[4], &all);
  const int result = execute_task(tcl, given + 1, values, all);
  free(values);
  return result;
}

/* Turbine has its program end with 0, whatever became of it. */
static void end_with(ClientData code) {
  fflush(NULL);
  _exit((int)(intptr_t)code);
}

static void fail_unless_all_work(int workers) {
  const int asked = teff_session_workers(session);
  if (asked == workers) return;
  char reason[128];
  snprintf(reason, sizeof reason,
           "--workers %d, but Turbine has %d: turbine -n %d starts as many and a server", asked, workers,
           asked + 1);
  teff_fail(work, reason);
}

/* The flags of the next configuration; "" where there is none left. */
static int next_flags(Tcl_Interp* tcl, int workers) {
  work = teff_session_next(session, 1);
  if (work != NULL) {
    fail_unless_all_work(workers);
    Tcl_SetObjResult(tcl, Tcl_NewStringObj(teff_flags(work), -1));
    return TCL_OK;
  }
  const int code = teff_session_close(session);
  if (code != 0) Tcl_CreateExitHandler(end_with, (ClientData)(intptr_t)code);
  return TCL_OK;
}

/* read_flags WORKERS */
COMMAND(read_flags) {
  (void)data, (void)count;
  int workers = 0;
  int words = 0;
  Tcl_Obj** word = NULL;
  if (Tcl_GetIntFromObj(tcl, given[1], &workers) != TCL_OK) return TCL_ERROR;
  if (Tcl_ListObjGetElements(tcl, Tcl_GetVar2Ex(tcl, "argv", NULL, TCL_GLOBAL_ONLY), &words, &word) != TCL_OK)
    return TCL_ERROR;
  const char** const flags = calloc((size_t)words + 1, sizeof *flags); /* they live as long as the program */
  for (int i = 0; i < words; ++i) flags[i] = strdup(Tcl_GetString(word[i]));
  session = teff_session_open(words, flags);
  if (session == NULL) {
    fprintf(stderr, "error: %s\n", teff_error());
    Tcl_CreateExitHandler(end_with, (ClientData)(intptr_t)2);
    return TCL_OK;
  }
  const teff_identity who = {"swift_t", "dataflow", TEFF_SWIFT_T_VERSION, workers, workers};
  teff_session_identify(session, &who);
  return next_flags(tcl, workers);
}

/* prepare RANK FLAGS: the rank. */
COMMAND(prepare) {
  (void)data, (void)count;
  int rank = 0;
  if (Tcl_GetIntFromObj(tcl, given[1], &rank) != TCL_OK) return TCL_ERROR;
  teff_bind_to_core(rank);
  if (session == NULL) {
    teff_workload_free(work);
    work = teff_workload_new(Tcl_GetString(given[2]), 1);
    teff_start(work); /* of its CPU time; the first rank takes the wall time */
  }
  Tcl_SetObjResult(tcl, Tcl_NewIntObj(rank));
  return TCL_OK;
}

COMMAND(take_outcome) {
  (void)data, (void)count, (void)given;
  teff_outcome outcome;
  if (session == NULL) teff_stop(work);
  teff_take_outcome(work, &outcome);
  if (session == NULL) outcome.elapsed_seconds = 0;
  outcome.gap_share_before = outcome.gap_share_after =
      0; /* ranks that spin at once are noise to each other */
  Tcl_SetObjResult(tcl, Tcl_NewByteArrayObj((const unsigned char*)&outcome, sizeof outcome));
  return TCL_OK;
}

/* answer {RANK OUTCOME RANK OUTCOME...}: the next flags. */
COMMAND(answer) {
  (void)data, (void)count;
  int ranks = 0;
  Tcl_Obj** const values = values_by_key(tcl, given[1], &ranks);
  teff_outcome* const outcomes = calloc((size_t)ranks, sizeof *outcomes);
  for (int i = 0; i < ranks; ++i) {
    int size = 0;
    memcpy(&outcomes[i], Tcl_GetByteArrayFromObj(values[i], &size), sizeof *outcomes);
  }
  teff_session_answer(session, work, outcomes, ranks);
  free(outcomes);
  free(values);
  return next_flags(tcl, ranks);
}

int Teff_Init(Tcl_Interp* tcl) {
  const struct {
    const char* name;
    Tcl_ObjCmdProc* call;
  } commands[] = {{"teff::graphs", graphs},
                  {"teff::steps", steps},
                  {"teff::width", width},
                  {"teff::first", first},
                  {"teff::last", last},
                  {"teff::inputs", inputs},
                  {"teff::input", input},
                  {"teff::readers", readers},
                  {"teff::execute", execute},
                  {"teff::execute_all", execute_all},
                  {"teff::read_flags", read_flags},
                  {"teff::prepare", prepare},
                  {"teff::start", start},
                  {"teff::stop", stop},
                  {"teff::take_outcome", take_outcome},
                  {"teff::answer", answer}};
  Tcl_CreateNamespace(tcl, "teff", NULL, NULL);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i)
    Tcl_CreateObjCommand(tcl, commands[i].name, commands[i].call, NULL, NULL);
  return Tcl_PkgProvide(tcl, "teff", "1.0");
}
