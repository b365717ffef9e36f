#include "teff/spawn/foreign_patterns.hpp"

#include <bit>

#include "teff/bench/cores.hpp"
#include "teff/spawn/null_task.hpp"

using teff::spawn::node;
using teff::spawn::tree;

namespace {

const tree& of_c(const teff_spawn_tree* of) {
  return *std::bit_cast<const tree*>(of);
}
node of_c(const teff_spawn_node& of) {
  return std::bit_cast<node>(of);
}

}  // namespace

teff::spawn::tree_counts teff::spawn::foreign_patterns::search_tree(const tree& of, const node& from) {
  const auto root = std::bit_cast<teff_spawn_node>(from);
  teff_spawn_counts found{};
  teff_spawn_search_tree(std::bit_cast<const teff_spawn_tree*>(&of), &root, &found);
  return {found.nodes, found.leaves, found.depth};
}

extern "C" {
void teff_spawn_null_task(std::int64_t index) {
  teff::spawn::null_task(index);
}
std::int32_t teff_spawn_children(const teff_spawn_tree* tree, const teff_spawn_node* of) {
  return of_c(tree).children(of_c(*of));
}
std::int32_t teff_spawn_child(const teff_spawn_tree* tree, const teff_spawn_node* of, std::int32_t index,
                              teff_spawn_node* child) {
  const node made = tree::child(of_c(*of), index);
  *child = std::bit_cast<teff_spawn_node>(made);
  return of_c(tree).children(made);
}
void teff_spawn_pin(std::int32_t worker) {
  teff::bench::bind_to_core(worker);
}
}
