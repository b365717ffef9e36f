// Ranks in a ring compute, and pass a number on after each block: `mpirun -n 2 ./ring BLOCK`, in thousands of
// operations. Rank 0 has half as much again to compute as the others.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double compute(double x, long thousands) {
  for (long i = 0; i < 1000 * thousands; ++i) x = x * 0.999999 + 1e-6;
  return x;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long block = argc > 1 ? atol(argv[1]) : 1;
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  double own = 0, other = rank;
  for (long step = 0; step < 50000 / block; ++step) {
    own = compute(other, rank == 0 ? 3 * block : 2 * block);
    MPI_Request both[2];
    MPI_Irecv(&other, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(&own, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  double sum = 0;
  MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.3f\n", sum / ranks);
  MPI_Finalize();
}
