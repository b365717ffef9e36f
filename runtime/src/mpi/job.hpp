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

namespace teff::detail {

class mpi_job {
 public:
  mpi_job(int& argc, char**& argv, const mpi_options& how);
  ~mpi_job();
  mpi_job(const mpi_job&) = delete;
  mpi_job& operator=(const mpi_job&) = delete;

  std::mutex& mutex = mpi_calls();
  int rank = 0;
  int ranks = 1;
  unsigned ranks_of_node = 1;
  unsigned cores_of_node = 1;  // that these ranks may use
  std::optional<task_messages> tasks;
  std::optional<node> near;                           // none: the job uses no rings
  std::vector<std::optional<std::size_t>> on_node;    // by rank: its number on this node
  std::atomic<std::uint32_t> opened{0};               // channels so far
  const int exceptions = std::uncaught_exceptions();  // when the job began

  [[nodiscard]] bool has_far() const noexcept {
    return !near || near->ranks().size() < static_cast<std::size_t>(ranks);
  }

 private:
  bool ours_ = false;
};

}  // namespace teff::detail
