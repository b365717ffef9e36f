// A pool of threads without any runtime: pool CASE [THREADS]. Each case runs for about half a second.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int is_over;

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static __attribute__((noinline)) void compute(double seconds) {
  const double end = now(CLOCK_MONOTONIC) + seconds;
  while (now(CLOCK_MONOTONIC) < end) {
    for (volatile int i = 0; i < 20000; ++i) {
    }
  }
}

static void* waits(void* argument) {
  pthread_mutex_lock(&lock);
  while (!is_over) pthread_cond_wait(&never, &lock);
  pthread_mutex_unlock(&lock);
  return argument;
}

static void* wants_lock(void* argument) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return argument;
}

static void* computes(void* argument) {
  compute(0.5);
  return argument;
}

static void* outlives_main(void* argument) {
  const double begin = now(CLOCK_MONOTONIC);
  compute(0.5);
  fprintf(stderr, "%.4f\n", now(CLOCK_MONOTONIC) - begin);
  return argument;
}

static void* is_deaf(void* argument) {
  sigset_t every;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, NULL);
  return computes(argument);
}

static volatile int urgent;
static void on_urgent(int signal) {
  (void)signal;
  ++urgent;
}

static void enter_container(void) {  // which forbids a table of files of one's own
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the call's number
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {4, rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) abort();
}

int main(int argc, char** argv) {
  const char* name = argv[1];
  const int threads = argc > 2 ? atoi(argv[2]) : 1;
  pthread_t pool[1000];
  void* (*what)(void*) = strcmp(name, "condition") == 0 ? waits
                         : strcmp(name, "lock") == 0    ? wants_lock
                         : strcmp(name, "deaf") == 0    ? is_deaf
                         : strcmp(name, "leaves") == 0  ? outlives_main
                                                        : computes;
  if (strcmp(name, "exec") == 0) {
    for (double end = now(CLOCK_MONOTONIC) + 0.2; now(CLOCK_MONOTONIC) < end;) compute(1e-5);
    execl(argv[0], argv[0], "compute", (char*)NULL);
  }
  if (strcmp(name, "fork") == 0) {
    if (fork() != 0) return wait(NULL) < 0;
  }
  if (strcmp(name, "contained") == 0) enter_container();
  if (strcmp(name, "signals") == 0) signal(SIGURG, on_urgent);
  if (strcmp(name, "lock") == 0) pthread_mutex_lock(&lock);
  for (int i = 0; i < threads; ++i) pthread_create(&pool[i], NULL, what, NULL);
  if (strcmp(name, "leaves") == 0) pthread_exit(NULL);
  const double begin = now(CLOCK_MONOTONIC);
  if (strcmp(name, "sleep") == 0) {
    for (int i = 0; i < 100; ++i) {
      struct timespec left = {0, 5000000};
      if (nanosleep(&left, NULL) != 0) printf("interrupted\n");
    }
  } else if (strcmp(name, "signals") == 0) {
    for (int i = 0; i < 100; ++i) {
      compute(5e-3);
      raise(SIGURG);
    }
    if (urgent != 100) printf("%d of 100 signals\n", urgent);
  } else {
    compute(0.5);
  }
  if (strcmp(name, "lock") == 0) pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  is_over = 1;
  pthread_cond_broadcast(&never);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < threads; ++i) pthread_join(pool[i], NULL);
  fprintf(stderr, "%.4f %.4f\n", now(CLOCK_MONOTONIC) - begin, now(CLOCK_PROCESS_CPUTIME_ID));
  return 0;
}
