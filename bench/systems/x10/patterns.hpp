// What Patterns.x10 calls.
#pragma once

#include <x10aux/config.h>

#include <cstring>

#include "teff_spawn.h"

namespace teff_x10 {

/// Calls what teff_spawn_run gets, in its activity, and never returns.
void serve(x10_int workers);

/// A Node of Patterns.x10 from the one of C, whose fields are the first of its fields.
template <class Node>
Node node(const teff_spawn_node& of, x10_int children) {
  Node made;
  std::memcpy(&made, &of, sizeof of);
  made.FMGL(children) = children;
  return made;
}

template <class Node>
Node child(x10_long tree, const Node& of, x10_int index) {
  teff_spawn_node parent, made;
  std::memcpy(&parent, &of, sizeof parent);
  const x10_int children =
      teff_spawn_child(reinterpret_cast<const teff_spawn_tree*>(tree), &parent, index, &made);
  return node<Node>(made, children);
}

}  // namespace teff_x10
