// Connections between nodes, by which a node finds out that another one is gone (rings.md).
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teff::detail {

// The first rank of each node has two connections: to the first ranks of the node before and the node after,
// in a circle. Nothing is sent while all is well; the two systems ask each other whether they are there.
class node_links {
 public:
  // All first ranks make their links at the same time, with a communicator of these ranks. A connection
  // breaks after `silence` without an answer of the other node's system; never, if that is 0. If some rank
  // can't connect, there are no connections.
  node_links(MPI_Comm first_ranks, std::chrono::milliseconds silence);
  // Says goodbye, so that the other nodes do not take this node for gone.
  ~node_links();
  node_links(const node_links&) = delete;
  node_links& operator=(const node_links&) = delete;

  // Files to watch. When one can be read, hear() has news.
  [[nodiscard]] const std::array<int, 2>& files() const noexcept { return files_; }
  enum class news : std::uint8_t { none, goodbye, end };
  // Reads the i-th connection. If its news is `end`, `why` says why the job has to end.
  [[nodiscard]] news hear(std::size_t i, std::string& why) const;
  // Sends the other nodes the reason why the job has to end. The caller ends this process next.
  void tell(std::string_view why) const noexcept;

 private:
  // How to connect to a rank; each first rank sends its card to the others.
  struct address_card {
    std::array<std::uint32_t, 8> addresses;  // of IPv4; 0 ends them
    std::uint16_t port;                      // 0: there is none
    std::int32_t rank;                       // in the job
    std::int32_t process;
    std::uint64_t job;  // a number that only ranks of the job know
    std::array<char, 64> node;
  };
  [[nodiscard]] static address_card own_card(int listening);
  [[nodiscard]] int connect_to(const address_card& next) const;
  [[nodiscard]] int accept_from(const address_card& before, int listening) const;

  std::vector<address_card> cards_;
  std::array<std::size_t, 2> others_{};  // cards of the node before and the node after
  std::array<int, 2> files_{-1, -1};
};

}  // namespace teff::detail
