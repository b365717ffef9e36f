// The keys without a place of a graph.
#pragma once

#include <teff/detail/graph/graph_core.hpp>

#include "graph/key_chains.hpp"

namespace teff::detail {

struct graph_core::same_key {
  const graph_core& of;
  bool operator()(const graph_node& a, const graph_node& b) const {
    return a.hash == b.hash && of.are_same(of.key_in(a), of.key_in(b));
  }
};

class graph_core::chains : public key_chains<graph_node, std::atomic, same_key> {
 public:
  explicit chains(const graph_core& of) : key_chains(shape{}, {of}) {}
};

}  // namespace teff::detail
