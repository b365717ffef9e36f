#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "teff/spawn/sha1.hpp"

namespace teff::spawn {

/// The counts of a search of a tree.
struct tree_counts {
  std::int64_t nodes = 0;
  std::int64_t leaves = 0;
  std::int32_t depth = 0;  ///< of the deepest node; the root's is 0

  tree_counts& operator+=(const tree_counts& other) {
    nodes += other.nodes;
    leaves += other.leaves;
    if (other.depth > depth) depth = other.depth;
    return *this;
  }
  /// Built from its parts: copying a sum whose parts were just written would wait for those stores.
  friend tree_counts operator+(const tree_counts& a, const tree_counts& b) {
    return {a.nodes + b.nodes, a.leaves + b.leaves, a.depth > b.depth ? a.depth : b.depth};
  }
  friend bool operator==(const tree_counts&, const tree_counts&) = default;
};

/// A node of a tree. Its children follow from its state.
struct node {
  digest state;
  std::int32_t depth = 0;
};

/// An unbalanced tree as Olivier et al. (LCPC 2006) define it. A node's SHA-1 digest determines its number of
/// children, so any process can expand any node and all processes get the same tree.
struct tree {
  enum class shape : std::uint8_t { binomial, fixed, linear, cyclic };

  std::string_view name;
  shape kind = shape::fixed;
  double branching = 4;          ///< b0: children of the root, expected or (binomial) exact
  std::int32_t depth = 0;        ///< d, of geometric trees
  double probability = 0;        ///< q, of the binomial tree: that a node has children
  std::int32_t children_of = 0;  ///< m, of the binomial tree: how many it then has
  std::uint32_t seed = 0;
  std::optional<tree_counts> published;

  [[nodiscard]] node root() const;
  [[nodiscard]] std::int32_t children(const node& of) const;
  [[nodiscard]] static node child(const node& of, std::int32_t index);
};

/// The trees of the benchmark, with their published counts.
[[nodiscard]] std::span<const tree> known_trees();
/// The tree of that name, or null.
[[nodiscard]] const tree* find_tree(std::string_view name);

/// Searches the tree by plain recursion.
[[nodiscard]] tree_counts search(const tree& of, const node& from);
/// Seconds that the generator alone takes for one node: for its digest and the number of its children.
[[nodiscard]] double generator_seconds();

}  // namespace teff::spawn
