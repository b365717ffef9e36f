/* The task bench for any language: parse a configuration, ask its graphs what depends on what, execute tasks
 * with their real kernels and validation, get the record. libteff_bench.so, C11; also reads as C++.
 *
 * A system's adapter is a program of this shape (bench/task_graph/tests/c_abi_test.c has a whole one):
 *
 *   teff_session *session = teff_session_open(argc - 1, argv + 1);
 *   if (session == NULL) { fprintf(stderr, "error: %s\n", teff_error()); return 2; }
 *   teff_session_identify(session, &who);
 *   while ((work = teff_session_next(session, workers_here)) != NULL) {
 *     ... get everything ready; teff_start(work);
 *     ... every task once, in an order that the dependences allow: teff_execute(work, ...)
 *     teff_stop(work);
 *     teff_session_answer(session, work, NULL, 0);
 *   }
 *   return teff_session_close(session);
 *
 * Rules that hold everywhere:
 * - Nothing throws or exits. A function that fails says so by its result (NULL, or -1). teff_error() then has
 *   the reason, in the calling thread, as one line that names the value, the rule and the way out.
 * - One thread at a time may use an object, except in functions that say otherwise.
 * - Text is UTF-8 and ends with a zero. Text that is returned belongs to the library.
 * - A task is (graph, timestep, point), each counted from 0. Sizes are bytes, times seconds.
 * - What is here keeps its meaning and layout as long as TEFF_BENCH_ABI; new functions may come.
 */
#ifndef TEFF_BENCH_H
#define TEFF_BENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this header describes; teff_abi_version() is what the library is. They have to be equal. */
enum { TEFF_BENCH_ABI = 1 };
int32_t teff_abi_version(void);

/* Why the last failed call in this thread failed; "" if none has. Valid until the next call that fails. */
const char* teff_error(void);

/* ---- Configurations and what they ask for ------------------------------------------------------------- */

/* One configuration, prepared in this process: its graphs, its workers, its timed region. */
typedef struct teff_workload teff_workload;

/* Parses flags, separated by blanks as in a line of batch mode ("-type fft -steps 10 -width 4"), and prepares
 * the configuration for `workers` (0 or more) workers of this process. NULL if the flags are wrong. */
teff_workload* teff_workload_new(const char* flags, int32_t workers);
void teff_workload_free(teff_workload* work); /* NULL is fine */

/* The flags that make the same configuration in another process. Belongs to the workload. */
const char* teff_flags(const teff_workload* work);

/* The functions from here to teff_inputs_of_timestep may be called by any number of threads at once. What
 * does not exist (a graph, a timestep, a point) has width 0, no points, no inputs. */

int32_t teff_graphs(const teff_workload* work);
int64_t teff_steps(const teff_workload* work, int32_t graph);
int64_t teff_width(const teff_workload* work,
                   int32_t graph); /* the greatest number of points of a timestep */
int64_t teff_output_bytes(const teff_workload* work, int32_t graph);
int64_t teff_max_inputs(const teff_workload* work, int32_t graph);    /* of any task */
int64_t teff_max_consumers(const teff_workload* work, int32_t graph); /* of any task */

/* The points of a timestep are *first, *first + 1 ... Returns how many. `first` may be NULL. */
int64_t teff_points(const teff_workload* work, int32_t graph, int64_t timestep, int64_t* first);

/* The points at timestep - 1 whose outputs the task reads, in the order in which teff_execute wants them.
 * Writes at most `capacity` of them, returns how many there are. */
int64_t teff_inputs(const teff_workload* work, int32_t graph, int64_t timestep, int64_t point,
                    int64_t* points, int64_t capacity);
/* The points at timestep + 1 that read the task's output, likewise. */
int64_t teff_consumers(const teff_workload* work, int32_t graph, int64_t timestep, int64_t point,
                       int64_t* points, int64_t capacity);

/* A system that keeps the outputs of two timesteps in memory that all tasks share overwrites an output two
 * timesteps later, when its readers have to be done. There a task waits for those at timestep - 1 whose
 * outputs it reads, for those that read what it overwrites, and for its own column: predecessors, each once,
 * likewise. Only at timestep 0 there are none. Successors are the tasks at timestep + 1 that wait for this
 * one. */
int64_t teff_predecessors(const teff_workload* work, int32_t graph, int64_t timestep, int64_t point,
                          int64_t* points, int64_t capacity);
int64_t teff_successors(const teff_workload* work, int32_t graph, int64_t timestep, int64_t point,
                        int64_t* points, int64_t capacity);

/* After how many timesteps inputs, consumers, predecessors and successors repeat, from timestep 1 on: but the
 * last timestep has nobody that reads or waits. 0 where they don't, because the width varies. */
int64_t teff_cycle(const teff_workload* work, int32_t graph);

/* teff_inputs for all points of a timestep in one call: those of the k-th point are inputs[starts[k]] to
 * inputs[starts[k + 1] - 1]. `starts` has room for one more than there are points. Returns how many inputs
 * there are; if that is more than `capacity`, neither array holds anything of use. width x max_inputs is
 * enough. */
int64_t teff_inputs_of_timestep(const teff_workload* work, int32_t graph, int64_t timestep, int64_t* starts,
                                int64_t* inputs, int64_t capacity);

/* ---- Running ------------------------------------------------------------------------------------------ */

/* The timed region: from when all workers are ready and no task has started, to when all tasks of all
 * processes are done. Once each, by one thread. Not needed in processes whose outcome's elapsed_seconds is
 * set to 0. */
void teff_start(teff_workload* work);
void teff_stop(teff_workload* work);

/* Executes a task as `worker` (from 0): checks the inputs, runs the kernel, writes output_bytes to `output`,
 * counts. inputs[i], of input_sizes[i] bytes, is the output of the i-th point that teff_inputs names. Any
 * number of threads may be in here at once, each as a worker of its own; a right task allocates nothing. A
 * task that is not right (a missing input, a wrong one) is executed all the same and stands in the outcome.
 * -1 where it could not be executed at all; that stands in the outcome, too. */
int32_t teff_execute(teff_workload* work, int32_t graph, int64_t timestep, int64_t point, int32_t worker,
                     void* output, size_t output_size, const void* const* inputs, const size_t* input_sizes,
                     int64_t input_count);

/* For systems whose tasks share this process's memory: the library keeps the outputs of two timesteps and
 * brings each task its inputs. Call teff_keep_outputs once, before teff_start, then teff_execute_kept for
 * teff_execute, in an order in which each task comes after its predecessors. Both return 0, or -1 as
 * teff_execute does. */
int32_t teff_keep_outputs(teff_workload* work);
int32_t teff_execute_kept(teff_workload* work, int32_t graph, int64_t timestep, int64_t point,
                          int32_t worker);

/* Makes the run fail, with a reason of the adapter's. The first reason counts. Any thread may call it. */
void teff_fail(teff_workload* work, const char* reason);

/* ---- Outcomes and records ----------------------------------------------------------------------------- */

/* What all workers have done, added up. */
typedef struct teff_tally {
  int64_t tasks;
  int64_t dependencies; /* consumed inputs */
  int64_t flops;
  int64_t bytes;
  uint64_t checksum; /* over tasks and inputs, in no order; modulo 2^64 */
} teff_tally;

/* What one process did in a run. It has no pointers, so its bytes can be sent to the process that makes the
 * record. Times and counts of several processes add up; of elapsed_seconds the greatest counts, so set it to
 * the time that was measured, or to 0 in processes that did not time the region. */
typedef struct teff_outcome {
  teff_tally done;
  double elapsed_seconds;
  double cpu_seconds; /* in the region; this and the switches are the whole process's */
  int64_t voluntary_switches;
  int64_t involuntary_switches;
  double gap_share_before; /* part of a spin before the region that the process did not get, 0 to 1 */
  double gap_share_after;
  char error[512]; /* the first thing that was not right, or "" */
} teff_outcome;

/* Takes what this process's workers did; spins for half a millisecond to see how noisy the machine is.
 * Not while any task is executing. */
void teff_take_outcome(const teff_workload* work, teff_outcome* outcome);

/* Which system a record is about. */
typedef struct teff_identity {
  const char* system;  /* the folder's name in bench/systems */
  const char* variant; /* as in system.toml */
  const char* version; /* the runtime's own, asked of it */
  int32_t workers;     /* in all processes: counted, or asked of the runtime; 0 before it has started */
  int32_t ranks;       /* processes that execute tasks */
} teff_identity;

/* Validates a run: one line of JSON, without the newline, that says whether exactly the tasks and dependences
 * of the configuration were executed. `outcomes` are those of all processes; where count is 0, this process's
 * own. NULL only where memory is short. Belongs to the workload, until the next call for it. */
const char* teff_record(teff_workload* work, const teff_identity* who, const teff_outcome* outcomes,
                        int32_t count);

/* The answer to --identity: a line of JSON. Valid until the next call in this thread. */
const char* teff_identity_json(const teff_identity* who);

/* ---- An adapter's program ----------------------------------------------------------------------------- */

/* What a program's flags ask of it: one run, a batch of them (a line each from standard input), its identity
 * or help. All adapters take the same flags. */
typedef struct teff_session teff_session;

/* `flags` are those of the command line, without the program's name. --help is answered here. NULL where they
 * are wrong. */
teff_session* teff_session_open(int32_t count, const char* const* flags);

/* Workers asked for, in all processes: --workers, or as many as this process may use cores. */
int32_t teff_session_workers(const teff_session* session);

/* Who answers; before the first teff_session_next, and again when the runtime has started and its workers can
 * be counted. A run of fewer workers than were asked for is a failed one. The text is copied. */
void teff_session_identify(teff_session* session, const teff_identity* who);

/* The next configuration to run, with `workers` workers in this process; NULL where there is none left. It
 * belongs to the session, until the next call or teff_session_close. Reads standard input, so it may wait for
 * long. Wrong lines and --identity are answered here: start what takes long only when something has to be
 * run. */
teff_workload* teff_session_next(teff_session* session, int32_t workers);

/* Prints the record of `work`, or the report where that was asked for. `outcomes` as for teff_record. */
void teff_session_answer(teff_session* session, teff_workload* work, const teff_outcome* outcomes,
                         int32_t count);

/* Returns the program's exit code: 0, or 1 where a run failed. */
int32_t teff_session_close(teff_session* session);

/* ---- Cores -------------------------------------------------------------------------------------------- */

/* Cores that this process may use (its affinity mask). */
int32_t teff_usable_cores(void);
/* Binds the calling thread to the index-th (modulo their number) of them. */
void teff_bind_to_core(int32_t index);

#ifdef __cplusplus
}
#endif

#endif
