#include "teff/spawn/tree.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numbers>

namespace teff::spawn {
namespace {

constexpr std::int32_t most_children = 100;  // but of the root of a binomial tree
constexpr std::uint32_t padding = 0x80000000;

constexpr std::array trees{
    tree{.name = "T1",
         .branching = 4,
         .depth = 10,
         .seed = 19,
         .published = tree_counts{4130071, 3305118, 10}},
    tree{.name = "T1L",
         .branching = 4,
         .depth = 13,
         .seed = 29,
         .published = tree_counts{102181082, 81746377, 13}},
    tree{.name = "T2",
         .kind = tree::shape::cyclic,
         .branching = 6,
         .depth = 16,
         .seed = 502,
         .published = tree_counts{4117769, 2342762, 81}},
    tree{.name = "T3",
         .kind = tree::shape::binomial,
         .branching = 2000,
         .probability = 0.124875,
         .children_of = 8,
         .seed = 42,
         .published = tree_counts{4112897, 3599034, 1572}},
    tree{.name = "T5",
         .kind = tree::shape::linear,
         .branching = 4,
         .depth = 20,
         .seed = 34,
         .published = tree_counts{4147582, 2181318, 20}},
};

/// The number drawn from a node, in [0, 1).
double drawn(const node& of) {
  return (of.state[4] & 0x7fffffff) / 2147483648.0;
}

/// How many children a node of a geometric tree has on average.
double expected_children(const tree& of, std::int32_t depth) {
  if (depth == 0) return of.branching;
  switch (of.kind) {
    case tree::shape::linear:
      return of.branching * (1 - static_cast<double>(depth) / of.depth);
    case tree::shape::cyclic:
      return depth > 5 * of.depth ? 0.0
                                  : std::pow(of.branching, std::sin(2 * std::numbers::pi * depth / of.depth));
    default:
      return depth < of.depth ? of.branching : 0.0;
  }
}

}  // namespace

node tree::root() const {
  constexpr std::uint32_t bits = 160;  // of sixteen zero bytes and the seed
  return {sha1({0, 0, 0, 0, seed, padding, 0, 0, 0, 0, 0, 0, 0, 0, 0, bits}), 0};
}

node tree::child(const node& of, std::int32_t index) {
  constexpr std::uint32_t bits = 192;  // of the parent's digest and the index
  const auto& [a, b, c, d, e] = of.state;
  const auto last = static_cast<std::uint32_t>(index);
  return {sha1({a, b, c, d, e, last, padding, 0, 0, 0, 0, 0, 0, 0, 0, bits}), of.depth + 1};
}

std::int32_t tree::children(const node& of) const {
  if (kind == shape::binomial) {
    if (of.depth == 0) return static_cast<std::int32_t>(branching);
    return drawn(of) < probability ? children_of : 0;
  }
  const double expected = expected_children(*this, of.depth);
  if (expected <= 0) return 0;
  const double children = std::floor(std::log(1 - drawn(of)) / std::log(1 - 1 / (1 + expected)));
  return children < most_children ? static_cast<std::int32_t>(children) : most_children;
}

std::span<const tree> known_trees() {
  return trees;
}

const tree* find_tree(std::string_view name) {
  const auto* found = std::ranges::find(trees, name, &tree::name);
  return found == trees.end() ? nullptr : found;
}

tree_counts search(const tree& of, const node& from) {
  tree_counts seen{.nodes = 1, .leaves = 0, .depth = from.depth};
  const std::int32_t children = of.children(from);
  for (std::int32_t i = 0; i < children; ++i) seen += search(of, tree::child(from, i));
  seen.leaves += children == 0 ? 1 : 0;
  return seen;
}

double generator_seconds() {
  constexpr int nodes = 20000;
  const tree& of = *find_tree("T3");
  node at = of.root();
  std::int64_t children = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < nodes; ++i) {
    at = tree::child(at, i & 7);
    children += of.children(at);
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  return children > 0 ? spent.count() / nodes : 0;
}

}  // namespace teff::spawn
