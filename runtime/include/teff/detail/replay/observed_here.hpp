// A body of a graph that runs for an observer.
#pragma once

#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/scheduler/release_observer.hpp>

#include <utility>

namespace teff::detail {

// From here to the end of the block the calling thread runs a body of the graph for this observer.
class observed_here {
 public:
  // Not inline: GCC 12 would take the branch of fulfill() for a call through a null pointer, and warn of it.
  [[gnu::noinline]] explicit observed_here(observed_task body)
      : outer_(std::exchange(observed, body)), outer_running_(std::exchange(running_on, {})) {}
  ~observed_here() {
    observed = outer_;
    running_on = outer_running_;
  }
  observed_here(const observed_here&) = delete;
  observed_here& operator=(const observed_here&) = delete;

 private:
  observed_task outer_;
  running_source outer_running_;
};

}  // namespace teff::detail
