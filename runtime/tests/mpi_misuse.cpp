// Messages of tasks that can't be, one for each CASE; case 0 is right. The compiler must say what is wrong.
#include <teff/mpi.hpp>

#include <array>
#include <span>
#include <vector>

int main() {
  std::vector<double> row(8);
  const std::vector<double> constant(8);
  double sum = 0;
#if CASE == 0
  teff::mpi::isend(teff::section(constant, 0, 2, 2, 4), 1);
  teff::mpi::irecv(std::span(row).first(2), 0);
  teff::mpi::ibcast(sum, 0);
#elif CASE == 1
  teff::mpi::isend(std::vector<double>(row), 1);
#elif CASE == 2
  teff::mpi::irecv(std::vector<double>(8), 1);
#elif CASE == 3
  teff::mpi::ibcast(sum + 1, 1);
#elif CASE == 4
  teff::mpi::isend(row.data(), 1);
#elif CASE == 5
  teff::mpi::irecv(row.begin(), 1);
#elif CASE == 6
  std::array addresses{row.data()};
  teff::mpi::isend(addresses, 1);
#elif CASE == 7
  teff::mpi::irecv(constant, 1);
#elif CASE == 8
  teff::mpi::iallreduce(teff::section(row, 0, 1, 2, 4));
#endif
}
