// The state that a graph keeps of a task.
#pragma once

#include <teff/detail/graph/key_text.hpp>
#include <teff/detail/ready/ready_node.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace teff::detail {

// The table that counts the fulfilments of a key (src/graph/README.md).
enum class counting : std::uint8_t { own_table, chains, counters };

// It exists from its first fulfilment until it has run, or longer; where counters count, since the last
// fulfilment only. It stays in a chain of a table for that time, so that one fulfilment too many finds it;
// `next_in_line` belongs to the worker that runs it.
// `next_in_line` also links requests to key_chains.
template <class Key>
struct graph_node : ready_node {
  int received;
  int needed;
  counting counted;            // by what its fulfilments were
  bool ended;                  // for key_chains: a request to take the node out
  std::atomic<bool> ran;       // the task has run; for key_chains
  graph_node* next = nullptr;  // in a chain, or among the free
  std::size_t hash;            // where counters count, the key's number
  union {
    Key key;
  };

  graph_node() noexcept {}
  ~graph_node() {}
  [[nodiscard]] bool same_key(const graph_node& other) const {
    return hash == other.hash && equal_keys(key, other.key);
  }
};

}  // namespace teff::detail
