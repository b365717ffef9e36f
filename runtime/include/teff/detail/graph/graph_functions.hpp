// The functions by which the user describes the tasks of a graph.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/function_of.hpp>
#include <teff/error.hpp>

#include <cstddef>
#include <string>

namespace teff::detail {

// The functions that the user has set, of any callable types: a call is one indirect call.
template <class Key>
struct graph_functions {
  function_of<int, Key> indegree;
  function_of<void, Key> body;
  function_of<unsigned, Key> place;
  function_of<int, Key> priority;
  function_of<bool, Key> received;  // whether the key counts
  function_of<std::size_t, Key> number;

  // Throws misuse where one of the two is missing that every graph needs.
  void expect_complete(const char* caller) const {
    if (!indegree || !body) [[unlikely]]
      throw_incomplete(caller);
  }

 private:
  [[noreturn, gnu::cold]] void throw_incomplete(const char* caller) const {
    throw_error(
        misuse(std::string(caller) + ": the graph has " + (indegree ? "no body()" : "no indegree()")));
  }
};

}  // namespace teff::detail
