// mpi: a job whose ranks are processes that MPI has started. Target teff::mpi.
#pragma once

#include <teff/transport.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace teff {

// How ranks talk.
struct mpi_options {
  // By shared memory within a node. False, on any rank: all by MPI's messages.
  bool rings = true;
  // Within a node, the data of large messages are read from the memory of the rank that sends them, where the
  // system permits that. False, on any rank: MPI carries them.
  bool reads_memory = true;
  // After so long without an answer of another node's system, be its ranks busy or stopped, the job ends; 0:
  // never. In whole seconds, 4 at least; else mpi throws invalid_option.
  std::chrono::seconds silence{4};
};

// The transport of the rank that this process is.
//
//   int main(int argc, char** argv) {
//     teff::mpi job(argc, argv);  // started alone: one rank
//     teff::runtime rt;
//     teff::communicator comm{rt, job};
//     ...
//   }
//
// - Initialises MPI at the level MPI_THREAD_SERIALIZED, unless the program has done so at that level or a
//   higher one; then finalises it at its end. Calls of MPI that the program makes itself while this lives
//   have to be where no worker uses a communicator, unless the level is MPI_THREAD_MULTIPLE.
// - Ranks of one node talk through rings in memory that MPI has them share. A rank with nothing to do sleeps,
//   and the rank that sends wakes it (from Linux 5.16; before that, its workers look as for other nodes).
// - To ranks of other nodes by MPI's messages. MPI tells nobody what has come: workers look between tasks.
//   When all of them sleep, one wakes to look, the more rarely the longer nothing has come.
// - MPI carries the data of large messages to other nodes, from the sender's memory to the receiver's.
// - If another rank is killed, or another node can't be reached, this process ends and names that rank or
//   node. Nodes watch each other by connections of TCP (IPv4); where these can't be made, the node's own
//   ranks only.
// - Opening a channel, and destroying one, waits for all ranks to do the same.
class mpi final : public transport {
 public:
  // Throws misuse if MPI is initialised at a lower level, or was finalised.
  mpi(int& argc, char**& argv, const mpi_options& how = {});
  ~mpi() override;

  [[nodiscard]] int rank() const noexcept override;
  [[nodiscard]] int ranks() const noexcept override;
  [[nodiscard]] std::unique_ptr<channel> open() override;
  // Names the ranks of this node that have not come.
  [[nodiscard]] std::string awaited() const override;
  [[nodiscard]] bool is_crowded(unsigned workers) const noexcept override;
  [[nodiscard]] std::shared_ptr<std::byte> share_memory(std::size_t size, memory_name& name) override;
  [[nodiscard]] std::shared_ptr<std::byte> map_memory(int of, const memory_name& name) override;

 private:
  class job;
  class line;
  std::shared_ptr<job> job_;
};

}  // namespace teff
