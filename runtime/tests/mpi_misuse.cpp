// Messages of tasks that can't be (misuse.sh).
#include <teff/mpi.hpp>

#include <array>
#include <span>
#include <vector>

void right(std::vector<double>& row, const std::vector<double>& constant, double& sum) {
  teff::mpi::isend(teff::section(constant, 0, 2, 2, 4), 1);
  teff::mpi::irecv(std::span(row).first(2), 0);
  teff::mpi::ibcast(sum, 0);
}

#ifdef MISUSE
void misuse(std::vector<double>& row, const std::vector<double>& constant,
            std::array<double*, 2>& addresses) {
  teff::mpi::isend(std::vector<double>(row), 1);          // error: name a range that outlives the task
  teff::mpi::irecv(std::vector<int>(8), 1);               // error: name a range that outlives the task
  teff::mpi::ibcast(row[0] + 1, 1);                       // error: name an object that outlives the task
  teff::mpi::isend(row.data(), 1);                        // error: a pointer or an iterator does not say
  teff::mpi::irecv(row.begin(), 1);                       // error: a pointer or an iterator does not say
  teff::mpi::isend(addresses, 1);                         // error: an address means nothing on another rank
  teff::mpi::irecv(constant, 1);                          // error: MPI writes here, so name memory
  teff::mpi::iallreduce(teff::section(row, 0, 1, 2, 4));  // error: elements that lie in one row
}
#endif
