// The job of this process: its ranks, and the state that all of its channels share.
#pragma once

#include <teff/mpi.hpp>

#include "mpi/node.hpp"
#include "mpi/task_requests.hpp"

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

namespace teff {

namespace detail {

// MPI sends a packet as blocks of so many bytes, so that the number of blocks fits an int up to 32 GiB.
inline constexpr std::size_t block = argument_alignment;

}  // namespace detail

class mpi::job {
 public:
  job(int& argc, char**& argv, const mpi_options& how);
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  // Returns when the request has completed. Other threads may call MPI meanwhile.
  void complete(MPI_Request& request);

  std::mutex& mutex = detail::mpi_calls();
  int rank = 0;
  int ranks = 1;
  unsigned ranks_here = 1;    // ranks of this node
  bool is_first_here = true;  // of these ranks
  unsigned cores_here = 1;    // cores that these ranks may use
  MPI_Datatype blocks = MPI_DATATYPE_NULL;
  std::optional<detail::task_messages> tasks;
  std::optional<detail::node> near;                   // none: the job uses no rings
  std::vector<std::optional<std::size_t>> on_node;    // by rank: its number on this node
  std::atomic<std::uint32_t> opened{0};               // channels so far
  const int exceptions = std::uncaught_exceptions();  // when the job began

  [[nodiscard]] bool has_far() const noexcept {
    return !near || near->ranks().size() < static_cast<std::size_t>(ranks);
  }

 private:
  void look_around() noexcept;

  bool ours_ = false;
};

}  // namespace teff
