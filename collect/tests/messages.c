// A program of MPI with known accounts: messages CASE [LENGTH of a body in us] [STEPS]. Each rank prints its
// bodies' nanoseconds and those from MPI_Init on.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double work;

// Other programs may have the core meanwhile: that is a part of the body.
static void spin(double length) {
  const double begin = now();
  while (now() < begin + length) {
  }
  work += now() - begin;
}

int main(int argc, char** argv) {
  const double length = 1e3 * (argc > 2 ? atof(argv[2]) : 100);
  const long steps = argc > 3 ? atol(argv[3]) : 100;
  static double out[1 << 20], in[1 << 20];
  int rank, ranks;
  if (strcmp(argv[1], "many_threads") == 0) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  const double begin = now();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  for (long step = 0; step < steps; ++step) {
    if (strcmp(argv[1], "imbalance") == 0) {  // a third of all time is idle
      spin(length * (rank == 0 ? 3 : 1));
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(argv[1], "ring") == 0) {
      MPI_Request requests[2];
      spin(length);
      MPI_Irecv(in, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(argv[1], "late_sender") == 0) {  // a long message: both ranks wait
      if (rank == 0) spin(length);
      if (rank == 0) MPI_Send(out, 1 << 20, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
      if (rank == 1) MPI_Recv(in, 1 << 20, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {  // an OpenMP region in each step
#pragma omp parallel num_threads(2) reduction(+ : work)
      spin(length);
      MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  const double wall = now() - begin;
  MPI_Finalize();
  printf("{\"rank\": %d, \"work\": %.0f, \"wall\": %.0f}\n", rank, work, wall);
  return 0;
}
