// mpi: a job whose ranks are processes that MPI has started. Target teff::mpi.
#pragma once

#include <teff/transport.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace teff {

// How the ranks of a job communicate.
struct mpi_options {
  // Ranks of one node use shared memory. If this is false on any rank, all ranks use MPI's messages.
  bool rings = true;
  // Within a node, the receiver of a large message may read the data from the sender's memory, where the
  // system permits that. If this is false on any rank, MPI carries such data.
  bool reads_memory = true;
  // The job ends after so long without an answer of another node's system; 0: never. A system answers also
  // for ranks that are busy or stopped. In whole seconds, 4 at least; otherwise mpi throws invalid_option.
  std::chrono::seconds silence{4};
};

// The transport of one rank of an MPI job, which is this process.
//
//   int main(int argc, char** argv) {
//     teff::mpi job(argc, argv);  // started alone: one rank
//     teff::runtime rt;
//     teff::communicator comm{rt, job};
//     ...
//   }
//
// - Initialises MPI at the level MPI_THREAD_SERIALIZED, and finalises it at its end, unless the program has
//   initialised it at that level or a higher one. While this object lives, the program may call MPI itself
//   only where no worker uses a communicator, unless the level is MPI_THREAD_MULTIPLE.
// - Ranks of one node communicate through rings in shared memory. A rank with nothing to do sleeps, and a
//   sender wakes it. Before Linux 5.16 its workers look for packets instead, as for other nodes.
// - Ranks of other nodes are reached by MPI's messages. MPI does not tell when one has come, so workers look
//   between tasks. When all workers sleep, one of them wakes to look; the longer nothing has come, the longer
//   it sleeps.
// - MPI carries the data of large messages to other nodes, from the sender's memory to the receiver's.
// - If another rank is killed, or another node can't be reached, this process says so and ends. Nodes watch
//   each other by TCP connections (IPv4). Where these can't be made, a rank watches only the ranks of this
//   node.
// - open(), and a channel's destructor, wait until all ranks have called them.
class mpi final : public transport {
 public:
  // Throws misuse if MPI is initialised at a lower level, or was finalised.
  mpi(int& argc, char**& argv, const mpi_options& how = {});
  ~mpi() override;

  [[nodiscard]] int rank() const noexcept override;
  [[nodiscard]] int ranks() const noexcept override;
  [[nodiscard]] std::unique_ptr<channel> open() override;
  // Names the ranks of this node that have not opened the channel yet.
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
