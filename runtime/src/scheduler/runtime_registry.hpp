// The runtimes of this process: by it a thread wakes a worker of another runtime than its own. That runtime
// may be gone by then, since what its worker waited for has happened. And which process this is: after a
// fork() the runtimes of the parent are none of the child's (forks.md).
#pragma once

#include "platform/process_wide.hpp"
#include "scheduler/scheduler.hpp"

#include <vector>

namespace teff::detail {

// The runtimes of the process from which this one was forked stay. They are never destroyed here, since their
// threads are not here to end.
struct runtimes {
  std::vector<scheduler*> all;

  // Calls visit(runtime) for each that lives and is of this process.
  static void each(auto visit) {
    process_wide<runtimes>::with([&](const runtimes& registered) {
      for (auto* const one : registered.all) {
        if (!one->is_of_parent()) visit(*one);
      }
    });
  }
};

}  // namespace teff::detail
