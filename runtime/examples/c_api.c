// libteff from C: a loop, tasks of a scope, and a task graph.
#include <teff/teff.h>

#include <inttypes.h>
#include <stdio.h>

// A loop: each part writes squares.
static int square(int64_t begin, int64_t end, void* context) {
  int64_t* squares = context;
  for (int64_t i = begin; i < end; ++i) squares[i] = i * i;
  return teff_ok;
}

// Tasks: fib(n - 1) is one, which any worker may run.
struct fib {
  int n;
  int64_t value;
};

static int fib(void* context) {
  struct fib* const call = context;
  if (call->n < 2) {
    call->value = call->n;
    return teff_ok;
  }
  struct fib one = {call->n - 1, 0};
  struct fib two = {call->n - 2, 0};
  teff_scope tasks;
  teff_scope_begin(&tasks);
  teff_scope_spawn(&tasks, fib, &one);
  const int here = fib(&two);
  const int there = teff_scope_end(&tasks);
  call->value = one.value + two.value;
  return here != teff_ok ? here : there;
}

// A graph: the paths to a cell of a grid are those to the cell above and those to the cell on the left.
enum { width = 17 };
static int64_t paths[width][width];

static int indegree(uint64_t key, void* context) {
  (void)context;
  return (key / width > 0) + (key % width > 0);
}

static int count_paths(teff_graph* graph, uint64_t key, void* context) {
  (void)context;
  const uint64_t row = key / width, column = key % width;
  paths[row][column] = row == 0 && column == 0 ? 1 : 0;
  if (row > 0) paths[row][column] += paths[row - 1][column];
  if (column > 0) paths[row][column] += paths[row][column - 1];
  int status = teff_ok;
  if (row + 1 < width) status = teff_graph_fulfill(graph, key + width);
  if (status == teff_ok && column + 1 < width) status = teff_graph_fulfill(graph, key + 1);
  return status;
}

static int run_graph(teff_runtime* runtime) {
  // The keys are small numbers, one beside the other, so an array may count them.
  const teff_graph_functions functions = {.indegree = indegree, .body = count_paths, .dense = width * width};
  teff_graph* graph = NULL;
  int status = teff_graph_make(runtime, &functions, &graph);
  if (status == teff_ok) status = teff_graph_fulfill(graph, 0);
  if (status == teff_ok) status = teff_graph_wait(graph);
  teff_graph_end(graph);
  return status;
}

// A body that fails: the call that waits returns its result.
static int fail(void* context) {
  (void)context;
  return 42;
}

static int64_t squares[1000];
static struct fib thirty = {30, 0};

static int program(void* context) {
  (void)context;
  const int status = teff_parallel_for(0, 1000, 0, square, squares);
  return status != teff_ok ? status : fib(&thirty);
}

int main(void) {
  teff_runtime* runtime = NULL;
  int status = teff_runtime_make(0, &runtime);
  if (status == teff_ok) status = teff_run(runtime, program, NULL);
  if (status == teff_ok) status = run_graph(runtime);
  if (status != teff_ok) {
    fprintf(stderr, "%s\n", teff_last_error());
    return 1;
  }
  printf("999 squared = %" PRId64 ", fib(30) = %" PRId64 ", %" PRId64 " paths\n", squares[999], thirty.value,
         paths[width - 1][width - 1]);
  status = teff_run(runtime, fail, NULL);
  printf("%d: %s\n", status, teff_last_error());
  return teff_runtime_end(runtime);
}
