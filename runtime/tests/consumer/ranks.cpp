// A job of one rank that sends to itself.
#include <teff/message.hpp>
#include <teff/mpi.hpp>
#include <teff/runtime.hpp>

int main(int argc, char** argv) {
  teff::mpi job(argc, argv);
  teff::runtime rt{{.workers = 1}};
  teff::communicator comm{rt, job};
  int sum = 0;
  const auto add = comm.on(teff::ordered, [&](int part) { sum += part; });
  comm.run([&] {
    for (int i = 1; i <= 6; ++i) add.send(comm.rank(), 7);
  });
  return sum == 42 ? 0 : 1;
}
