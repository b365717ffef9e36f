/* The C ABI, from C: whole graphs through it, and faults that it has to name. */
#define _POSIX_C_SOURCE 200809L /* dup2 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "teff_bench.h"

static int failures = 0;

static void expect(int holds, const char* what, const char* seen) {
  if (holds) return;
  fprintf(stderr, "FAILED: %s; seen: %s\n", what, seen == NULL ? "(nothing)" : seen);
  ++failures;
}

static int contains(const char* text, const char* part) {
  return text != NULL && strstr(text, part) != NULL;
}

/* What is done wrong to task (timestep 3, point 2). */
enum fault { none, dropped_dependence, corrupted_payload };

static const teff_identity who = {"test", "serial", "1", 1, 1};

/* Both timesteps' outputs of a graph that is run one task after the other. */
struct outputs {
  size_t bytes;
  unsigned char* of[2];
};

static void execute(teff_workload* work, int32_t graph, int64_t timestep, int64_t point,
                    struct outputs* outputs, enum fault fault) {
  unsigned char* before = outputs->of[(timestep + 1) % 2];
  int64_t points[64];
  const void* inputs[64];
  size_t sizes[64];
  int64_t count = teff_inputs(work, graph, timestep, point, points, 64);
  for (int64_t i = 0; i < count; ++i) {
    inputs[i] = before + (size_t)points[i] * outputs->bytes;
    sizes[i] = outputs->bytes;
  }
  const int here = timestep == 3 && point == 2;
  if (here && fault == dropped_dependence) --count;
  if (here && fault == corrupted_payload) before[(size_t)points[1] * outputs->bytes + 8] ^= 1;
  unsigned char* output = outputs->of[timestep % 2] + (size_t)point * outputs->bytes;
  expect(teff_execute(work, graph, timestep, point, 0, output, outputs->bytes, inputs, sizes, count) == 0,
         "teff_execute returns 0", teff_error());
}

static void run_graph(teff_workload* work, int32_t graph, enum fault fault) {
  struct outputs outputs = {(size_t)teff_output_bytes(work, graph), {NULL, NULL}};
  const size_t all = (size_t)teff_width(work, graph) * outputs.bytes;
  for (int i = 0; i < 2; ++i) outputs.of[i] = malloc(all);
  for (int64_t timestep = 0; timestep < teff_steps(work, graph); ++timestep) {
    int64_t first = 0;
    const int64_t count = teff_points(work, graph, timestep, &first);
    for (int64_t point = first; point < first + count; ++point)
      execute(work, graph, timestep, point, &outputs, fault);
  }
  for (int i = 0; i < 2; ++i) free(outputs.of[i]);
}

/* Runs the flags one task after the other and passes the record to `look`. */
static void run(const char* flags, enum fault fault, void (*look)(const char* record)) {
  teff_workload* work = teff_workload_new(flags, 1);
  expect(work != NULL, flags, teff_error());
  if (work == NULL) return;
  teff_start(work);
  for (int32_t graph = 0; graph < teff_graphs(work); ++graph) run_graph(work, graph, fault);
  teff_stop(work);
  look(teff_record(work, &who, NULL, 0));
  teff_workload_free(work);
}

static void is_valid(const char* record) {
  expect(contains(record, "\"passed\":true") && !contains(record, "\"error\":\""), "a right run is valid",
         record);
  expect(contains(record,
                  "\"schema\":\"teff-record-2\",\"benchmark\":\"task_graph\",\"system\":\"test\",\"variant\":"
                  "\"serial\""),
         "the record says who ran", record);
}

static void names_the_dropped_dependence(const char* record) {
  expect(contains(record, "timestep 3 point 2: 2 inputs where 3 are due; point 3 is missing"),
         "a dropped dependence is named", record);
}

static void names_the_corrupted_payload(const char* record) {
  expect(contains(record, "timestep 3 point 2: input 1 should be timestep 2 point 2, but its pair 0 says"),
         "a corrupted payload is named", record);
}

static void graphs_run_validated(void) {
  run("-type stencil_1d -steps 6 -width 5 -output 48 -kernel compute_bound -iter 3", none, is_valid);
  run("-type fft -steps 9 -width 7", none, is_valid);
  run("-type dom -steps 9 -width 5 -and -type random_nearest -period 2 -steps 5 -width 9", none, is_valid);
  run("-type stencil_1d -steps 6 -width 5", dropped_dependence, names_the_dropped_dependence);
  run("-type stencil_1d -steps 6 -width 5 -output 48", corrupted_payload, names_the_corrupted_payload);
}

static void wrong_flags_are_explained(void) {
  expect(teff_workload_new("-type stensil", 1) == NULL, "a wrong pattern makes no workload", NULL);
  expect(contains(teff_error(), "there is no 'stensil'"), "the error quotes the value", teff_error());
  expect(teff_workload_new("-steps 5 --batch", 1) == NULL, "--batch is no configuration", NULL);
  expect(teff_workload_new("-steps 5", -1) == NULL, "-1 workers make no workload", NULL);
  expect(contains(teff_error(), "-1 workers"), "the error quotes the number", teff_error());
  const char* const flags[] = {"--workers", "none"};
  expect(teff_session_open(2, flags) == NULL, "wrong flags open no session", NULL);
  expect(contains(teff_error(), "'none'"), "the error quotes the value", teff_error());
}

static void what_does_not_exist_is_empty_and_not_executed(void) {
  teff_workload* work = teff_workload_new("-type stencil_1d -steps 4 -width 3", 1);
  int64_t points[4];
  unsigned char output[16];
  expect(teff_width(work, 1) == 0 && teff_steps(work, -1) == 0, "another graph has no size", NULL);
  expect(teff_points(work, 0, 4, NULL) == 0, "there is no point after the last timestep", NULL);
  expect(teff_inputs(work, 0, 1, 3, points, 4) == 0, "a point outside has no inputs", NULL);
  expect(teff_consumers(work, 0, -1, 0, points, 4) == 0, "a timestep before the first has no consumers",
         NULL);
  expect(teff_execute(work, 1, 0, 0, 0, output, 16, NULL, NULL, 0) == -1, "no task of another graph runs",
         NULL);
  expect(contains(teff_error(), "graph 1"), "the error quotes the graph", teff_error());
  expect(teff_execute(work, 0, 0, 0, 1, output, 16, NULL, NULL, 0) == -1, "another worker runs no task",
         NULL);
  const char* record = teff_record(work, &who, NULL, 0);
  expect(contains(record, "\"error\":\"graph 1"), "the first of them fails the run", record);
  teff_workload_free(work);
}

static void answers_in_bulk_are_those_one_by_one(void) {
  teff_workload* work = teff_workload_new("-type spread -period 2 -radix 3 -steps 5 -width 8", 0);
  int64_t starts[9], bulk[24], inputs[3], consumers[8];
  expect(teff_inputs_of_timestep(work, 0, 2, starts, bulk, 24) == 24, "8 points have 3 inputs each", NULL);
  for (int64_t point = 0; point < 8; ++point) {
    const int64_t count = teff_inputs(work, 0, 2, point, inputs, 3);
    expect(starts[point + 1] - starts[point] == count, "as many inputs in bulk", NULL);
    expect(memcmp(inputs, bulk + starts[point], sizeof(inputs)) == 0, "the same inputs in bulk", NULL);
    for (int64_t i = 0; i < count; ++i) {
      int64_t there = 0;
      const int64_t readers = teff_consumers(work, 0, 1, inputs[i], consumers, 8);
      for (int64_t k = 0; k < readers; ++k) there += consumers[k] == point;
      expect(there == 1, "who is an input has the task as a consumer", NULL);
    }
  }
  expect(teff_inputs(work, 0, 2, 0, inputs, 1) == 3, "too small an array is told how many there are", NULL);
  expect(teff_inputs_of_timestep(work, 0, 2, starts, NULL, 0) == 24, "so in bulk", NULL);
  teff_workload_free(work);
}

/* As run(), with the outputs kept by the library. */
static void run_kept(const char* flags) {
  teff_workload* work = teff_workload_new(flags, 1);
  expect(teff_keep_outputs(work) == 0, "outputs are kept", teff_error());
  teff_start(work);
  for (int32_t graph = 0; graph < teff_graphs(work); ++graph)
    for (int64_t timestep = 0; timestep < teff_steps(work, graph); ++timestep) {
      int64_t first = 0;
      const int64_t count = teff_points(work, graph, timestep, &first);
      for (int64_t point = first; point < first + count; ++point)
        expect(teff_execute_kept(work, graph, timestep, point, 0) == 0, "a task runs", teff_error());
    }
  teff_stop(work);
  is_valid(teff_record(work, &who, NULL, 0));
  teff_workload_free(work);
}

static void the_library_keeps_outputs(void) {
  run_kept("-type stencil_1d -steps 6 -width 5 -output 48");
  run_kept("-type tree_in_out -steps 12 -width 16 -and -type spread -period 2 -steps 9 -width 8");
  teff_workload* work = teff_workload_new("-type dom -steps 4 -width 3", 1);
  expect(teff_execute_kept(work, 0, 0, 0, 0) == -1, "what nobody keeps can't be read", NULL);
  expect(contains(teff_error(), "not kept"), "the error says so", teff_error());
  expect(teff_keep_outputs(work) == 0 && teff_execute_kept(work, 0, 0, 2, 0) == -1,
         "a point outside is not executed", NULL);
  expect(contains(teff_error(), "point 2"), "the error names it", teff_error());
  teff_workload_free(work);
}

static int is_among(int64_t point, const int64_t* points, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (points[i] == point) return 1;
  return 0;
}

/* Of a graph up to 16 wide. */
static void a_task_waits_for_inputs_and_for_readers_of_what_it_overwrites(const char* flags) {
  teff_workload* work = teff_workload_new(flags, 0);
  int64_t awaited[16], others[16], first = 0;
  for (int64_t timestep = 0; timestep < teff_steps(work, 0); ++timestep) {
    const int64_t end = teff_points(work, 0, timestep, &first) + first;
    for (int64_t point = first; point < end; ++point) {
      const int64_t count = teff_predecessors(work, 0, timestep, point, awaited, 16);
      expect((count == 0) == (timestep == 0), "only the first timestep waits for nobody", flags);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t after = teff_successors(work, 0, timestep - 1, awaited[i], others, 16);
        expect(is_among(point, others, after), "who is awaited knows who waits", flags);
        expect(!is_among(awaited[i], awaited, i), "each is awaited once", flags);
      }
      const int64_t inputs = teff_inputs(work, 0, timestep, point, others, 16);
      for (int64_t i = 0; i < inputs; ++i)
        expect(is_among(others[i], awaited, count), "inputs are awaited", flags);
      const int64_t readers = teff_consumers(work, 0, timestep - 2, point, others, 16);
      for (int64_t i = 0; i < readers; ++i)
        expect(is_among(others[i], awaited, count), "readers are awaited", flags);
      const int64_t later = timestep + teff_cycle(work, 0);
      if (later == timestep || timestep == 0 || later >= teff_steps(work, 0)) continue;
      expect(teff_predecessors(work, 0, later, point, others, 16) == count &&
                 memcmp(awaited, others, (size_t)count * sizeof(int64_t)) == 0,
             "a cycle later the same are awaited", flags);
    }
  }
  teff_workload_free(work);
}

static void tasks_wait_in_every_pattern(void) {
  a_task_waits_for_inputs_and_for_readers_of_what_it_overwrites("-type trivial -steps 5 -width 3");
  a_task_waits_for_inputs_and_for_readers_of_what_it_overwrites("-type sweep -steps 9 -width 5");
  a_task_waits_for_inputs_and_for_readers_of_what_it_overwrites("-type fft -steps 20 -width 11");
  a_task_waits_for_inputs_and_for_readers_of_what_it_overwrites("-type dom -steps 20 -width 6");
  a_task_waits_for_inputs_and_for_readers_of_what_it_overwrites("-type tree_in_out -steps 12 -width 16");
  a_task_waits_for_inputs_and_for_readers_of_what_it_overwrites(
      "-type random_nearest -period 3 -radix 5 -steps 20 -width 9");
}

/* Half of the points of a trivial graph, run by a thread as a worker of its own. */
struct share {
  teff_workload* work;
  int32_t worker;
};

static void* run_share(void* of) {
  const struct share* share = of;
  unsigned char output[16];
  for (int64_t timestep = 0; timestep < 200; ++timestep)
    for (int64_t point = share->worker; point < 8; point += 2)
      teff_execute(share->work, 0, timestep, point, share->worker, output, 16, NULL, NULL, 0);
  return NULL;
}

static void workers_are_independent(void) {
  teff_workload* work =
      teff_workload_new("-type trivial -steps 200 -width 8 -kernel compute_bound -iter 1", 2);
  struct share shares[2] = {{work, 0}, {work, 1}};
  pthread_t threads[2];
  teff_start(work);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, run_share, &shares[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  teff_stop(work);
  is_valid(teff_record(work, &who, NULL, 0));
  teff_workload_free(work);
}

/* Two processes, as far as the library can tell: the second is made from the first one's flags. */
static void outcomes_of_processes_add_up(void) {
  teff_workload* here = teff_workload_new("-type no_comm -steps 1 -width 2 --nodes 2", 1);
  teff_workload* there = teff_workload_new(teff_flags(here), 1);
  unsigned char output[16];
  teff_outcome outcomes[2];
  teff_start(here);
  teff_execute(here, 0, 0, 0, 0, output, 16, NULL, NULL, 0);
  teff_execute(there, 0, 0, 1, 0, output, 16, NULL, NULL, 0);
  teff_stop(here);
  teff_take_outcome(here, &outcomes[0]);
  teff_take_outcome(there, &outcomes[1]);
  expect(outcomes[1].done.tasks == 1 && outcomes[1].elapsed_seconds == 0, "there, one task ran, untimed",
         NULL);
  outcomes[0].elapsed_seconds = 2.5;
  const char* record = teff_record(here, &who, outcomes, 2);
  is_valid(record);
  expect(contains(record, "\"elapsed_seconds\":2.5,") && contains(record, ",\"tasks\":2,"),
         "times given and tasks added stand", record);
  expect(contains(teff_record(here, &who, outcomes, 1), "1 tasks ran where the graph has 2"),
         "half of the processes are not enough", NULL);
  teff_fail(there, "the network is gone");
  teff_take_outcome(there, &outcomes[1]);
  expect(contains(teff_record(here, &who, outcomes, 2), "\"error\":\"the network is gone\""),
         "a failure elsewhere is reported", NULL);
  teff_workload_free(here);
  teff_workload_free(there);
}

static void a_session_gives_the_run_and_its_exit_code(void) {
  const char* const flags[] = {"-type", "trivial",   "-steps", "1",       "-width",
                               "1",     "--workers", "3",      "--report"};
  for (int forgotten = 0; forgotten < 2; ++forgotten) {
    teff_session* session = teff_session_open(9, flags);
    expect(teff_session_workers(session) == 3, "--workers is heard", NULL);
    expect(teff_session_next(session, 1) == NULL, "nobody runs before it said who it is", NULL);
    const teff_identity three = {who.system, who.variant, who.version, 3, 1};
    teff_session_identify(session, &three);
    teff_workload* work = teff_session_next(session, 1);
    expect(work != NULL, "there is one run", teff_error());
    expect(strcmp(teff_flags(work), "--type=trivial --steps=1 --width=1") == 0, "of the graph's flags",
           teff_flags(work));
    teff_start(work);
    if (!forgotten) run_graph(work, 0, none);
    teff_stop(work);
    teff_session_answer(session, work, NULL, 0);
    expect(teff_session_next(session, 1) == NULL, "and no other", NULL);
    expect(teff_session_close(session) == forgotten, "a failed run makes the exit code 1, another 0", NULL);
  }
}

/* The test's standard input becomes these lines. */
static void read_from(const char* lines) {
  FILE* file = tmpfile();
  fputs(lines, file);
  rewind(file);
  dup2(fileno(file), STDIN_FILENO);
  fclose(file);
}

static void a_batch_goes_on_after_wrong_lines_and_failed_runs(void) {
  const char* const flags[] = {"--batch"};
  int32_t widths = 0;
  teff_workload* work;
  read_from("-type stensil\n\n-width 2\n-steps none\n-width 3\n");
  teff_session* session = teff_session_open(1, flags);
  teff_session_identify(session, &who);
  while ((work = teff_session_next(session, 1)) != NULL) {
    widths = 10 * widths + (int32_t)teff_width(work, 0);
    teff_session_answer(session, work, NULL, 0); /* of a run that executed nothing */
  }
  expect(widths == 23, "both right lines are given, and no other", NULL);
  expect(teff_session_close(session) == 0, "a batch that was answered has the exit code 0", NULL);
}

static void a_session_that_nobody_answers_has_failed(void) {
  teff_session* session = teff_session_open(0, NULL);
  expect(teff_session_next(session, 1) == NULL, "nothing runs for nobody", NULL);
  expect(teff_session_close(session) == 1, "the exit code says so", NULL);
}

static void identity_is_json(void) {
  const char* text = teff_identity_json(&who);
  expect(contains(text,
                  "{\"system\":\"test\",\"variant\":\"serial\",\"version\":\"1\",\"workers\":1,\"ranks\":1"),
         "the identity names all", text);
}

int main(void) {
  expect(teff_abi_version() == TEFF_BENCH_ABI, "header and library belong together", NULL);
  expect(strcmp(teff_error(), "") == 0, "there is no error before the first", teff_error());
  expect(teff_usable_cores() >= 1, "there is a core to use", NULL);
  graphs_run_validated();
  wrong_flags_are_explained();
  what_does_not_exist_is_empty_and_not_executed();
  answers_in_bulk_are_those_one_by_one();
  the_library_keeps_outputs();
  tasks_wait_in_every_pattern();
  workers_are_independent();
  outcomes_of_processes_add_up();
  a_session_gives_the_run_and_its_exit_code();
  a_batch_goes_on_after_wrong_lines_and_failed_runs();
  a_session_that_nobody_answers_has_failed();
  identity_is_json();
  return failures == 0 ? 0 : 1;
}
