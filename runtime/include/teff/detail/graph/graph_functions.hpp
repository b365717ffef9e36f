// What the user says of the tasks of a graph.
#pragma once

#include <teff/detail/graph/function_of.hpp>

#include <cstddef>

namespace teff::detail {

// The functions that the user has set, of any callable types: a call is one indirect call.
template <class Key>
struct graph_functions {
  function_of<int, Key> indegree;
  function_of<void, Key> body;
  function_of<unsigned, Key> place;
  function_of<int, Key> priority;
  function_of<bool, Key> arrived;  // whether the key counts
  function_of<std::size_t, Key> number;
};

}  // namespace teff::detail
