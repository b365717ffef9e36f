// The ranks of one node: memory that they share, the rings in it, and each other's processes.
#pragma once

#include <mpi.h>
#include <poll.h>
#include <sys/types.h>

#include "mpi/node_links.hpp"
#include "mpi/rings.hpp"
#include "mpi/shared_copies.hpp"
#include "platform/own_thread.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace teff::detail {

// The ranks of a node are numbered from 0 here.
class node {
 public:
  // All ranks of the job make a node, and destroy it, together. `all`: the ranks of this node; the node frees
  // it. `reads`: the same on all of them; whether they may read each other's memory. `silence`: as for
  // node_links.
  node(MPI_Comm all, bool reads, std::chrono::milliseconds silence);
  // Whether /dev/shm has room for the memory that so many ranks of this node share; if not, says so on
  // stderr. MPI ends a job that asks for more.
  [[nodiscard]] static bool finds_room(std::size_t ranks);
  ~node();

  [[nodiscard]] detail::rings& rings() noexcept { return *rings_; }
  [[nodiscard]] shared_copies& copies() noexcept { return *copies_; }
  // The ranks in the job, by their numbers on this node.
  [[nodiscard]] const std::vector<int>& ranks() const noexcept { return ranks_; }
  // The process of a rank, by the same number.
  [[nodiscard]] pid_t process(std::size_t number) const noexcept { return processes_[number]; }
  // Whether a process number means the same in all processes of this node.
  [[nodiscard]] bool knows_processes() const noexcept { return sees_processes_; }
  // Whether all ranks of this node may read each other's memory.
  [[nodiscard]] bool reads() const noexcept { return reads_; }

 private:
  // Why the job ends, in shared memory. The first rank to know writes it, and all ranks print it.
  struct last_words {
    enum state : std::uint32_t { none, being_written, written };
    std::atomic<std::uint32_t> state{none};
    std::array<char, 252> text{};
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

  void find_processes(std::size_t own, bool reads);
  void begin_watch(std::size_t own, std::chrono::milliseconds silence);
  void watch();
  [[noreturn]] void end(const std::string& why) noexcept;

  MPI_Comm all_;
  MPI_Win memory_ = MPI_WIN_NULL;
  std::vector<int> ranks_;
  std::vector<pid_t> processes_;
  bool reads_ = false;
  bool sees_processes_ = false;  // see knows_processes()
  last_words* last_words_ = nullptr;
  std::optional<detail::rings> rings_;
  std::optional<shared_copies> copies_;
  std::optional<node_links> links_;  // only on the first rank, and if there are more nodes
  // Files of the processes, then of the links. The last one can be read when the thread is to end. poll()
  // skips files below 0.
  std::vector<pollfd> watched_;
  own_thread watcher_;
};

}  // namespace teff::detail
