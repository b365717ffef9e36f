// The ranks of one node: memory that they share, the rings in it, and each other's processes.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include "mpi/deaths.hpp"
#include "mpi/rings.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace teff::detail {

// Ranks of a node are numbered from 0 here.
class node {
 public:
  // All ranks of the job make one, and destroy it. `reads`: on all of them, they may read each other's
  // memory.
  explicit node(bool reads);
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  [[nodiscard]] detail::rings& rings() noexcept { return *rings_; }
  // By their number on this node, in the job.
  [[nodiscard]] const std::vector<int>& ranks() const noexcept { return ranks_; }
  // Also by that number.
  [[nodiscard]] pid_t process(std::size_t number) const noexcept { return processes_[number]; }
  // Whether this process may read the others' memory.
  [[nodiscard]] bool reads() const noexcept { return reads_; }

 private:
  using first_death = std::atomic<std::uint32_t>;  // of the ranks here, its number plus one; 0: all live
  static_assert(first_death::is_always_lock_free);

  void find_processes(std::size_t own, bool reads);
  [[noreturn]] void end_after(std::size_t who) noexcept;

  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Win memory_ = MPI_WIN_NULL;
  std::vector<int> ranks_;
  std::vector<pid_t> processes_;
  bool reads_ = false;
  first_death* first_death_ = nullptr;  // in the memory that they share
  std::optional<detail::rings> rings_;
  std::optional<death_watch> deaths_;
};

}  // namespace teff::detail
