// A rod whose ends are held at 0 and 1, over the ranks of a job: data flow on each rank, and tasks that send
// and receive the borders by MPI. Started alone it is one rank, by mpirun as many as that says.
#include <teff/flow.hpp>
#include <teff/mpi.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  constexpr int points = 8;
  constexpr int blocks = 2;  // of a rank
  constexpr int steps = 500;

  teff::mpi job(argc, argv);
  teff::runtime rt{{.workers = 1}};
  const int rank = job.rank();
  const int ranks = job.ranks();
  const int first = rank * points / ranks;
  const int size = (rank + 1) * points / ranks - first;

  // A point of each neighbour lies beside the rank's own.
  std::vector<double> rod[2];
  for (auto& each : rod) {
    each.assign(size + 2, 0.0);
    if (rank == ranks - 1) each[size] = 1.0;
  }

  teff::flow f{rt};
  for (int step = 0; step < steps; ++step) {
    auto& now = rod[step % 2];
    auto& next = rod[(step + 1) % 2];
    // A task that sends or receives ends when MPI has, and its worker runs other tasks meanwhile. Sends of
    // two steps may run in any order, so their tags differ.
    const int tag = step % 2;
    if (rank != 0) {
      f.task(teff::in(now[1]), [&now, rank, tag] { teff::mpi::isend(now[1], rank - 1, tag); });
      f.task(teff::out(now[0]), [&now, rank, tag] { teff::mpi::irecv(now[0], rank - 1, tag); });
    }
    if (rank != ranks - 1) {
      f.task(teff::in(now[size]), [&now, rank, size, tag] { teff::mpi::isend(now[size], rank + 1, tag); });
      f.task(teff::out(now[size + 1]),
             [&now, rank, size, tag] { teff::mpi::irecv(now[size + 1], rank + 1, tag); });
    }
    for (int block = 0; block < blocks; ++block) {
      const int begin = 1 + block * size / blocks + (rank == 0 && block == 0 ? 1 : 0);
      const int end = 1 + (block + 1) * size / blocks - (rank == ranks - 1 && block == blocks - 1 ? 1 : 0);
      if (begin >= end) continue;
      f.task(teff::in(teff::section(now, begin - 1, end - begin + 2)),
             teff::out(teff::section(next, begin, end - begin)), [&now, &next, begin, end] {
               for (int i = begin; i < end; ++i) next[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4;
             });
    }
  }
  double error = 0;
  f.task(teff::in(rod[steps % 2]), teff::out(error), [&] {
    for (int i = 0; i < size; ++i)
      error += std::abs(rod[steps % 2][i + 1] - static_cast<double>(first + i) / (points - 1));
    teff::mpi::iallreduce(error);
  });
  f.wait();
  if (rank == 0) std::printf("%d ranks, distance from the straight line: %.2g\n", ranks, error);
  return error < 1e-6 ? 0 : 1;
}
