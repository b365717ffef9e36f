// teff.h: libteff for C, and for every language that can call C.
//
//   static int fill(int64_t begin, int64_t end, void* context) {
//     double* x = context;
//     for (int64_t i = begin; i < end; ++i) x[i] = 1.0;
//     return 0;
//   }
//   static int program(void* context) { return teff_parallel_for(0, 1000000, 0, fill, context); }
//
//   teff_runtime* rt = NULL;
//   int status = teff_runtime_make(0, &rt);
//   if (status == teff_ok) status = teff_run(rt, program, x);
//   if (status != teff_ok) fprintf(stderr, "%s\n", teff_last_error());
//   teff_runtime_end(rt);
//
// Statuses. A body returns 0 if all is well, and any other number if not. That number stops the loop,
// scope, graph or flow, and the call that waits for it returns the number. Numbers above 0 are the program's
// own. Numbers below 0 are libteff's, which a body may pass on.
#ifndef TEFF_TEFF_H
#define TEFF_TEFF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The results of calls, other than results of bodies.
enum teff_status {
  teff_ok = 0,
  teff_misused = -1,                 // the program uses the library in a way that can't work
  teff_invalid_option = -2,          // an option or a TEFF_* variable can't be honoured
  teff_forked_process = -3,          // a child process of fork() used what its parent made
  teff_over_fulfilled = -4,          // a key was fulfilled more often than its indegree says
  teff_never_satisfied = -5,         // a key was fulfilled less often than its indegree says
  teff_graph_waits_for_itself = -6,  // the wait for a graph or flow was called where it could never return
  teff_out_of_memory = -7,           // there is no memory
  teff_system_error = -8,            // the operating system refused something, such as a thread
  teff_exception = -9                // a body, written in C++, threw an exception
};

// The reason why the last failed call on this thread failed; "" if none did. The text stays until the next
// such call on this thread.
const char* teff_last_error(void);

// The version of the library that the program is linked with, as "0.1.0".
const char* teff_version(void);

// ---- Runtimes ----

// A set of workers, which are threads. Several can live in one process.
typedef struct teff_runtime teff_runtime;

// Makes a runtime and starts its workers. `workers`: how many; 0: TEFF_WORKERS, else one for every core that
// this process may use. Other options are read from the environment. Returns teff_invalid_option,
// teff_system_error, teff_out_of_memory; then `*made` is NULL. Returns teff_misused if `made` is NULL.
int teff_runtime_make(unsigned workers, teff_runtime** made);

// Waits for the calls of teff_run() that are in progress, ends the workers and frees the runtime. NULL is
// allowed. Graphs and flows of the runtime must have ended before. Returns teff_misused if called by one of
// the workers; then the runtime stays. In a child process of fork() it does nothing with the parent's
// runtime.
int teff_runtime_end(teff_runtime* runtime);

// How many workers it has; 0 if it is NULL.
unsigned teff_runtime_workers(const teff_runtime* runtime);

// Calls body(context) on a worker, waits for its end, and returns what it returns. Any thread may call it,
// and several may at once. Loops and scopes within it run in parallel on the runtime's workers. Returns
// teff_forked_process.
int teff_run(teff_runtime* runtime, int (*body)(void* context), void* context);

// The index of the worker that the calling thread is, from 0 on; -1 on a thread that is no worker.
int teff_worker_index(void);

// ---- Loops ----

// Calls body(begin, end, context) in parallel for parts that together are all of [first, last). Returns when
// all calls have ended. `grain`: how many iterations a part has at least, but for the last; 0: as many as
// take some hundred nanoseconds, which is measured while the loop runs. Returns what a body returned that was
// not 0: parts that have not begun by then are dropped; teff_misused if `body` is NULL. On a thread that is
// no worker, the loop runs on a runtime with default options. The first such call makes it; the exit of the
// process ends it. Returns what teff_runtime_make() does.
int teff_parallel_for(int64_t first, int64_t last, size_t grain,
                      int (*body)(int64_t begin, int64_t end, void* context), void* context);

// ---- Scopes ----

// Any number of tasks that end before the scope does. It lies in the frame of the function that begins it:
//
//   teff_scope tasks;
//   teff_scope_begin(&tasks);
//   for (i = 0; i < n; ++i) teff_scope_spawn(&tasks, work, &parts[i]);
//   status = teff_scope_end(&tasks);
//
// Scopes end in reverse order of their beginning, on the thread on which they began. On a thread that is no
// worker, the tasks run on the runtime of loops there, and each takes some microseconds: begin many small
// tasks within teff_run(). The fields are libteff's: the program neither reads nor copies them.
typedef struct teff_scope {
  void* held[16];
} teff_scope;

// Begins a scope.
void teff_scope_begin(teff_scope* scope);

// Runs task(context) some time before the scope ends: on any worker, or in the place where it is called. If
// it returns something other than 0, tasks of the scope that have not begun are dropped. Tasks of the scope
// may call it, too. A task that is NULL is one that returns teff_misused. Returns teff_ok; on a thread that
// is no worker also what teff_runtime_make() does, and then the task does not run.
int teff_scope_spawn(teff_scope* scope, int (*task)(void* context), void* context);

// Drops the tasks that have not begun.
void teff_scope_cancel(teff_scope* scope);

// 1 if the scope was cancelled, or one of its tasks returned something other than 0; else 0.
int teff_scope_cancelled(const teff_scope* scope);

// Waits for all tasks, running tasks meanwhile, and ends the scope, which may begin again. Every scope that
// has begun must end. Returns what the first task returned that did not return 0. Returns teff_misused where
// it can't wait, as before the end of a scope that began later; then the scope has not ended.
int teff_scope_end(teff_scope* scope);

// ---- Task graphs ----

// Tasks that have a key as their name, and start when what they depend on is done.
typedef struct teff_graph teff_graph;

// The result of place() for a task that any worker may run.
enum { teff_anywhere = -1 };

// The functions of a graph. They may be called on any worker, on several at once, and repeatedly; they return
// the same for the same key.
typedef struct teff_graph_functions {
  int (*indegree)(uint64_t key, void* context);  // how many calls of teff_graph_fulfill() its task needs
  int (*body)(teff_graph* graph, uint64_t key, void* context);
  int (*place)(uint64_t key, void* context);     // the only worker that runs it, or teff_anywhere, as if NULL
  int (*priority)(uint64_t key, void* context);  // of ready tasks the highest runs first; NULL: all are 0
  void* context;
  size_t dense;  // 0; or all keys are below it: those without a place take 4 bytes each, and less time
} teff_graph_functions;

// Makes a graph that takes a copy of `functions`. The runtime must live longer than the graph. Returns
// teff_misused if there is no indegree or no body, or an argument is NULL; teff_forked_process,
// teff_out_of_memory; then `*made` is NULL.
int teff_graph_make(teff_runtime* runtime, const teff_graph_functions* functions, teff_graph** made);

// Says that one of the dependences of a key's task is done; the last one makes the task ready. A task whose
// indegree is 0 starts with one call, too. Any thread may call it. Returns
// teff_forked_process, teff_out_of_memory; teff_misused if there is no graph, the indegree is negative, the
// place is no worker or the key is not below `dense`; teff_graph_wait() returns the last two where another
// thread finds them. A body that calls it should return what this returns, or nobody learns of it.
int teff_graph_fulfill(teff_graph* graph, uint64_t key);

// Returns when all tasks have run that can. A worker runs tasks while it waits; any other thread sleeps. The
// graph can be used again. Returns what the first body returned that did not return 0: tasks that had not
// begun by then were dropped. Returns teff_over_fulfilled, teff_never_satisfied, teff_graph_waits_for_itself,
// teff_forked_process; teff_misused if there is no graph, an indegree was negative, a place no
// worker, or a key not below `dense`.
int teff_graph_wait(teff_graph* graph);

// Frees the graph. If tasks are left, drops the tasks that have not begun, waits for the running tasks, and
// says so on stderr. NULL is allowed.
void teff_graph_end(teff_graph* graph);

// ---- Data flow ----

// Tasks that name the memory which they read and write. Two tasks are dependent if they share memory that
// either of them writes. A task begins when the tasks that were made before it, and on which it depends, have
// ended. So the result is that of the program in which each task runs where it is made.
//
//   teff_access touched[] = {{.kind = teff_in, .first = x, .bytes = n * sizeof *x},
//                            {.kind = teff_inout, .first = &sum, .bytes = sizeof sum}};
//   status = teff_flow_task(flow, touched, 2, add, &call, sizeof call);
//
// One thread at a time makes the tasks of a flow, and waits. The memory that a task names outlives the task.
// A body may make inner tasks of the flow. They wait for each other only, and their task ends when they all
// have. They may touch the memory that their task names, and memory that belongs to their task alone.
typedef struct teff_flow teff_flow;

// How a task touches memory.
enum teff_access_kind {
  teff_in = 1,           // it reads the memory
  teff_out = 2,          // it writes all of the memory, and does not read the old values
  teff_inout = 3,        // it reads and writes the memory
  teff_commutative = 4,  // it updates the memory: such tasks in a row run one at a time, in any order
  teff_concurrent = 5    // it updates the memory: such tasks in a row run together, and must synchronise
};

// A part of memory that a task touches: `bytes` from `first` on, or several rows of so many bytes.
typedef struct teff_access {
  int kind;  // of enum teff_access_kind
  const void* first;
  size_t bytes;   // of a row; 0: no memory
  size_t rows;    // 0 or 1: a single row
  size_t stride;  // bytes from the beginning of a row to that of the next row
} teff_access;

// Makes a flow. The runtime must live longer than the flow. Returns teff_misused if an argument is NULL.
// Returns teff_forked_process, teff_out_of_memory. Then `*made` is NULL.
int teff_flow_make(teff_runtime* runtime, teff_flow** made);

// Makes a task that touches `count` parts of memory, and calls body(context). If `bytes` is not 0, the task
// keeps a copy of so many bytes at `context`, and the body gets the address of the copy. The call may run
// this or other tasks before it returns. Returns teff_misused if the flow or the body is NULL, or an access
// has no kind, or accesses or a context are NULL and their number is not 0. Then it makes no task. Returns
// teff_out_of_memory. In a child process of fork(), the wait for the task returns teff_forked_process.
int teff_flow_task(teff_flow* flow, const teff_access* accesses, size_t count, int (*body)(void* context),
                   void* context, size_t bytes);

// Makes a worksharing task: a single task with these accesses. It calls body(begin, end, context) for chunks
// that together are all of [first, last). All workers that are free run chunks, with the same context. The
// task has ended when all chunks have. `chunk`: how many iterations a chunk has at least, but for the last;
// 0: as many as their cost says. A chunk may not make tasks of the flow. Returns as teff_flow_task().
int teff_flow_task_for(teff_flow* flow, int64_t first, int64_t last, size_t chunk,
                       const teff_access* accesses, size_t count,
                       int (*body)(int64_t begin, int64_t end, void* context), void* context, size_t bytes);

// Returns when all tasks have ended. A worker runs tasks while it waits. The flow can be used again. Returns
// what the first body returned that did not return 0: tasks that had not begun by then were dropped. In a
// body of the flow, it waits for the inner tasks that the body has made. Returns teff_misused if there is no
// flow, and in a chunk of a worksharing task. Returns teff_graph_waits_for_itself, teff_forked_process.
int teff_flow_wait(teff_flow* flow);

// Returns when a task with these accesses could begin. Tasks that touch other memory may still run. Returns
// as teff_flow_task(), teff_forked_process, and teff_misused in a chunk of a worksharing task. It leaves the
// results of bodies to teff_flow_wait().
int teff_flow_wait_for(teff_flow* flow, const teff_access* accesses, size_t count);

// Frees the flow. If tasks are left, drops the tasks that have not begun, waits for the running tasks, and
// says so on stderr. NULL is allowed. If a task of the flow calls it, the program ends.
void teff_flow_end(teff_flow* flow);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif
