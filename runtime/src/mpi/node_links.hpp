// Connections between nodes, by which one finds out that another is gone (rings.md).
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teff::detail {

// Of one rank of each node, the node's first: it is connected with that of the node before and of the node
// after, in a circle. Nothing is sent while all is well: the two systems ask each other whether they are
// there.
class node_links {
 public:
  // All first ranks make one, of their communicator, at the same time. After `silence` without an answer of
  // the other node's system a connection is broken; if that is 0, never. If some rank can't connect, there
  // are no connections.
  node_links(MPI_Comm first_ranks, std::chrono::milliseconds silence);
  // Says goodbye, so that the others need not think that this node is gone.
  ~node_links();
  node_links(const node_links&) = delete;
  node_links& operator=(const node_links&) = delete;

  // Files to be watched; each can be read when there is something to hear() there.
  [[nodiscard]] std::vector<int> files() const { return {files_.begin(), files_.end()}; }
  enum class news : std::uint8_t { none, goodbye, end };
  // What the i-th connection says. If it is the end, `why` is why the job has to end.
  [[nodiscard]] news hear(std::size_t i, std::string& why) const;
  // Passes on why the job has to end. This process ends next.
  void tell(std::string_view why) const noexcept;

 private:
  // Who makes one, to the others.
  struct address_card {
    std::array<std::uint32_t, 8> addresses;  // of IPv4; 0: no more
    std::uint16_t port;                      // 0: there is none
    std::int32_t rank;                       // in the job
    std::int32_t process;
    std::uint64_t job;  // a number that only those who belong to the job know
    std::array<char, 64> node;
  };
  [[nodiscard]] static address_card own_card(int listening);
  [[nodiscard]] int connect_to(const address_card& next) const;
  [[nodiscard]] int accept_from(const address_card& before, int listening) const;

  std::vector<address_card> cards_;
  std::array<std::size_t, 2> others_{};  // the node before and the node after: among the cards
  std::array<int, 2> files_{-1, -1};
};

}  // namespace teff::detail
