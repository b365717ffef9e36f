// The errors that libteff itself throws.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace teff {

// The program uses the library in a way that can't work; the message says which way.
struct misuse : std::logic_error {
  using std::logic_error::logic_error;
};

// A runtime was used after its shutdown.
struct runtime_was_shut_down : misuse {
  runtime_was_shut_down();
};

// A task graph was asked to run a task again, or to start one early: more came than its indegree says.
struct over_fulfilled : misuse {
  using misuse::misuse;
};

// Keys of a task graph were fulfilled, but not as often as their indegree says, and nothing is left that
// could do so.
struct never_satisfied : misuse {
  never_satisfied(const std::string& message, std::size_t keys) : misuse(message), count(keys) {}
  std::size_t count;  // of such keys
};

// task_graph::wait() was called within a task of the graph, whose end it would wait for, or where it would
// close a circle of tasks that wait for each other's graphs.
struct graph_waits_for_itself : misuse {
  using misuse::misuse;
};

// What a task graph did while it was recorded can't be run again: a key that ran twice, a dependence that
// came from elsewhere than a task, a task of the next iteration that this one has not, tasks of two workers
// that have one flag.
struct not_replayable : misuse {
  using misuse::misuse;
};

// In a replay the body of a task fulfilled other keys than when it was recorded.
struct replay_differs : misuse {
  using misuse::misuse;
};

// An option can't be honoured: a TEFF_* variable that is not a number, more workers than there is room for.
struct invalid_option : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace teff
