// OpenMP programs of known accounts: programs CASE [LENGTH of a body in us] [NUMBER of bodies] [ITERATIONS].
// It prints how many bodies ran, their nanoseconds, and the nanoseconds of all regions. A body spins for its
// length by the clock, so that a busy machine changes neither; or for so many iterations.
#define _GNU_SOURCE
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long iterations;  // of a body, in place of its length by the clock

static void spin(double length) {
  if (iterations > 0) {
    for (long i = 0; i < iterations; ++i) __asm__ volatile("");
    return;
  }
  const double end = now() + length;
  while (now() < end) {
  }
}

static double length;
static long number;

static long dynamic_loop(void) {
#pragma omp parallel for schedule(dynamic)
  for (long i = 0; i < number; ++i) spin(length);
  return number;
}

static long started_loops(void) {  // two loops in one region: GOMP_loop_*_start
#pragma omp parallel
  {
#pragma omp for schedule(guided) nowait
    for (long i = 0; i < number / 2; ++i) spin(length);
#pragma omp for schedule(dynamic, 2)
    for (unsigned long long i = 0; i < (unsigned long long)(number / 2); ++i) spin(length);
  }
  return number / 2 * 2;
}

static long static_loop(void) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < number; ++i) spin(length);
  return number;
}

static long regions(void) {
  for (long i = 0; i < number / 2; ++i) {
#pragma omp parallel num_threads(2)
    spin(length);
  }
  return number / 2 * 2;
}

static long variables(void) {  // more than a call passes in registers
  long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14,
       o = 15;
  long p = 16, q = 17, r = 18, sum = 0;
  if (number < 0) a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = r = number;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    spin(length * number);
    sum = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r;
  }
  if (sum != 2 * 171) abort();
  return 2 * number;
}

static long barrier(void) {  // the body ends by a call of the runtime, and may leave its frame before
#pragma omp parallel
  {
    spin(length);
#pragma omp barrier
  }
  return 2;
}

static long tasks(void) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < number; ++i) {
#pragma omp task
    spin(length);
  }
  return number;
}

static long untied(void) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < number / 3; ++i) {
#pragma omp task untied
    {
      spin(length);
#pragma omp task untied
      spin(length);
      spin(length / 2);
#pragma omp taskwait
      spin(length / 2);
    }
  }
  return number / 3 * 3;
}

static long recurse(int depth) {
  long left = 0, right = 0;
  spin(length);
  if (depth == 0) return 1;
#pragma omp task shared(left)
  left = recurse(depth - 1);
#pragma omp task shared(right)
  right = recurse(depth - 1);
#pragma omp taskwait
  return 1 + left + right;
}

static long recursion(void) {
  long made = 0;
  int depth = 0;
  while ((2 << depth) < number) ++depth;
#pragma omp parallel
#pragma omp single
  made = recurse(depth);
  return made;
}

static long stencil(void) {
  enum { width = 4 };
  char rows[2][width + 2];
  const long steps = number / width;
#pragma omp parallel
#pragma omp single
  for (long t = 0; t < steps; ++t) {
    for (int x = 1; x <= width; ++x) {
      char *from = rows[t % 2] + x, *to = rows[(t + 1) % 2] + x;
#pragma omp task depend(in : from[-1], from[0], from[1]) depend(out : to[0])
      spin(length);
      (void)from, (void)to;
    }
  }
  return steps * width;
}

static long chain(void) {
  char link = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < number; ++i) {
#pragma omp task depend(inout : link)
    spin(length);
  }
  (void)link;
  return number;
}

static long doacross(void) {  // a thread waits for a length before each body
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
  for (long i = 0; i < number; ++i) {
#pragma omp ordered depend(sink : i - 1)
    spin(length);
#pragma omp ordered depend(source)
  }
  return number;
}

static long taskloop(void) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1) reduction(+ : sum)
  for (long i = 0; i < number; ++i) {
    spin(length);
    sum += i;
  }
  if (sum != number * (number - 1) / 2) abort();
  return number;
}

static __attribute__((noinline)) void inner_region(void) {  // the call that begins it may have left the frame
#pragma omp parallel num_threads(2)
  spin(length);
}

static long nested(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  for (long i = 0; i < number / 4; ++i) inner_region();
  return number / 4 * 4;
}

static long crowd(void) {  // many inner regions at a time
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(200)
  for (int i = 0; i < 4; ++i) {
#pragma omp parallel num_threads(2)
    spin(length);
  }
  return 200 * 4 * 2;
}

static long imbalance(void) {  // a thread waits for a length at the region's end
  int first = 0, seen = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      do {
#pragma omp atomic read
        seen = first;
      } while (!seen);
      spin(length);
    } else {
      spin(length);
#pragma omp atomic write
      first = 1;
    }
  }
  return 2;
}

// A thread waits for a length before each task. The task's maker goes on when the task has ended.
static long producer(void) {
  long done = 0, seen = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < number; ++i) {
    spin(length);
#pragma omp task shared(done)
    {
      spin(length);
#pragma omp atomic update
      ++done;
    }
    do {
#pragma omp atomic read
      seen = done;
    } while (seen <= i);
  }
  return number;
}

static long sections(void) {
  for (long i = 0; i < number / 3; ++i) {
#pragma omp parallel sections
    {
#pragma omp section
      spin(length);
#pragma omp section
      spin(length);
#pragma omp section
      spin(length);
    }
  }
  return number / 3 * 3;
}

static long locks(void) {  // two threads take turns
#pragma omp parallel num_threads(2)
  for (long i = 0; i < number / 2; ++i) {
#pragma omp critical
    spin(length);
  }
  return number / 2 * 2;
}

static long detached(void) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < number; ++i) {
    omp_event_handle_t event;
#pragma omp task detach(event)
    {
      spin(length);
      omp_fulfill_event(event);
    }
  }
  return number;
}

static long cancelled(void) {  // OMP_CANCELLATION=true: the tasks after the first are dropped
  long run = 0;
#pragma omp parallel num_threads(1)
#pragma omp taskgroup
  {
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(run)
      {
#pragma omp atomic
        ++run;
        spin(length);
#pragma omp cancel taskgroup
      }
    }
  }
  return run;
}

static long waiting_maker(void) {  // all sorts of tasks that run at once
  for (long i = 0; i < number / 2; ++i) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task if (0)
      spin(length);
#pragma omp task final(1)
      {
#pragma omp task
        spin(length);
      }
    }
  }
  return number / 2 * 3;
}

static long two_tasks(void) {
#pragma omp parallel
#pragma omp single
  {
    for (long i = 0; i < number; ++i) {
#pragma omp task
      spin(length);
    }
    for (long i = 0; i < 2 * number; ++i) {
#pragma omp task
      spin(length / 2);
    }
  }
  return 3 * number;
}

static long sites(void) {  // 400 different bodies
#define BODY                          \
  {                                   \
    _Pragma("omp task") spin(length); \
  }
#define BODIES8 BODY BODY BODY BODY BODY BODY BODY BODY
#define BODIES64 BODIES8 BODIES8 BODIES8 BODIES8 BODIES8 BODIES8 BODIES8 BODIES8
#pragma omp parallel
#pragma omp single
  {
    BODIES64 BODIES64 BODIES64 BODIES64 BODIES64 BODIES64 BODIES8 BODIES8
  }
  return 400;
}

static long none(void) {
  return 0;
}

static long cleared(void) {
  clearenv();
  return dynamic_loop();
}

static long empty_chunks(void) {
#pragma omp parallel for schedule(dynamic)
  for (long i = 0; i < number; ++i) __asm__ volatile("");
  return number;
}

static long threads(void) {
#pragma omp parallel num_threads(1000)
  spin(length);
  return 1000;
}

static long killed(void) {
  dynamic_loop();
#pragma omp parallel
  {
    spin(length);
#pragma omp barrier
#pragma omp master
    kill(getpid(), SIGKILL);
#pragma omp barrier
  }
  return 0;
}

static long aborted(void) {
  dynamic_loop();
  abort();
}

static long left(void) {
  dynamic_loop();
  _exit(3);
}

static long replaced(void) {
  dynamic_loop();
  execl("/proc/self/exe", "programs", "dynamic_loop", "100", "50", (char*)NULL);
  return 0;
}

static long forked(void) {
  dynamic_loop();
  if (fork() == 0) {
#pragma omp parallel num_threads(1)
    spin(length);
    _exit(0);
  }
  wait(NULL);
  return number;
}

static long forked_within(void) {  // the child ends the task in which it was born
  int child = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp task if (0) shared(child)
    child = fork() == 0;
    if (child) _exit(0);
  }
  wait(NULL);
  return 1;
}

static long forked_out_of(void) {  // the child ends the region in which it was born
  const pid_t parent = getpid();
#pragma omp parallel num_threads(1)
  if (fork() < 0) abort();
  if (getpid() != parent) _exit(0);
  int status = 1;
  wait(&status);
  if (status != 0) abort();
  return 1;
}

static void* begins_cancelled(void* argument) {
  pthread_cancel(pthread_self());
#pragma omp parallel num_threads(2)
  spin(length);
  return argument;
}

static long thread_cancelled(void) {  // a region has no point of cancellation
  pthread_t thread;
  void* said = NULL;
  pthread_create(&thread, NULL, begins_cancelled, &said);
  pthread_join(thread, &said);
  if (said == PTHREAD_CANCELED) abort();
  return 2;
}

static long exact(void) {
  feclearexcept(FE_ALL_EXCEPT);
  for (int i = 0; i < 5; ++i) {
#pragma omp parallel num_threads(1)
    for (volatile long j = 0; j < 1000000; ++j) {
    }
  }
  if (fetestexcept(FE_ALL_EXCEPT) != 0) abort();
  return 5;
}

#define CASE(name) {#name, name, 1}
#define FIRST(name) {#name, name, 0}
static const struct {
  const char* name;
  long (*run)(void);
  int is_prepared;  // the collector begins before the case
} cases[] = {CASE(dynamic_loop),  CASE(started_loops), CASE(static_loop),   CASE(regions),
             CASE(barrier),       CASE(tasks),         CASE(untied),        CASE(recursion),
             CASE(stencil),       CASE(chain),         CASE(doacross),      CASE(taskloop),
             CASE(nested),        CASE(crowd),         CASE(imbalance),     CASE(producer),
             CASE(sections),      CASE(locks),         CASE(detached),      CASE(cancelled),
             CASE(waiting_maker), CASE(two_tasks),     CASE(sites),         FIRST(none),
             FIRST(cleared),      CASE(empty_chunks),  CASE(threads),       CASE(killed),
             CASE(aborted),       CASE(left),          CASE(replaced),      CASE(forked),
             CASE(forked_within), CASE(variables),     CASE(forked_out_of), FIRST(thread_cancelled),
             FIRST(exact)};

int main(int count, char** words) {
  length = count > 2 ? atof(words[2]) * 1e3 : 1e5;
  number = count > 3 ? atol(words[3]) : 200;
  iterations = count > 4 ? atol(words[4]) : 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (count < 2 || strcmp(words[1], cases[i].name) != 0) continue;
    if (cases[i].is_prepared) {
#pragma omp parallel num_threads(1)
      spin(0);
    }
    const double begin = now();
    const long bodies = cases[i].run();
    printf("{\"bodies\": %ld, \"work\": %.0f, \"wall\": %.0f}\n", bodies, (double)bodies * length,
           now() - begin);
    return 0;
  }
  return 2;
}
