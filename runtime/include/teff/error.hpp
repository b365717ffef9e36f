// The errors that libteff itself throws.
#pragma once

#include <teff/detail/standard_library.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace teff {

// The program uses the library in a way that can't work; the message says which way.
struct misuse : std::logic_error {
  using std::logic_error::logic_error;
};

// Stop was requested of a request before it had begun, so that it did not begin.
struct request_stopped : std::runtime_error {
  request_stopped() : std::runtime_error("teff::runtime::submit: stopped before it had begun") {}
};

// A promise ended and had given its future neither a value nor an exception.
struct broken_promise : std::runtime_error {
  broken_promise()
      : std::runtime_error("teff::promise: ended without a value: set_value() was never called") {}
};

// A task waits for a future where that could never end: the future's task waits for the waiting task,
// directly or through others. Or the future is made of such futures (then, when_all, when_any, a coroutine).
struct future_waits_for_itself : misuse {
  using misuse::misuse;
};

// A runtime was used after its shutdown, or a task graph or recording after the end of its runtime.
struct runtime_was_shut_down : misuse {
  using misuse::misuse;
  runtime_was_shut_down();
};

// A child process of fork() used a runtime, task graph or recording of its parent, or waited for a task that
// a worker of the parent was running. The workers are threads, and a child process has only the one that
// called fork(). The child may make a new runtime.
struct forked_process : misuse {
  forked_process();
};

// A key of a task graph was fulfilled more often than its indegree says, before its task had ended.
struct over_fulfilled : misuse {
  using misuse::misuse;
};

// Keys of a task graph were fulfilled less often than their indegree says, and no task is left that could
// fulfil them.
struct never_satisfied : misuse {
  never_satisfied(const std::string& message, std::size_t keys) : misuse(message), count(keys) {}
  std::size_t count;  // of such keys
};

// When run() ended, rounds of reductions or barriers waited for values of ranks that had not given any.
struct incomplete_round : misuse {
  incomplete_round(const std::string& message, std::size_t rounds) : misuse(message), count(rounds) {}
  std::size_t count;  // of such rounds, once for each rank on which one waits
};

// The indegree of a key of a task graph is negative.
struct negative_indegree : misuse {
  using misuse::misuse;
};

// A wait for a graph, a flow or an epoch of messages was called where it could never return: within a task of
// its own, or in a circle of graphs, flows and epochs whose tasks and handlers wait for each other.
struct graph_waits_for_itself : misuse {
  using misuse::misuse;
};

// A recorded task graph can't be replayed. A key ran twice, or code outside the tasks' bodies fulfilled a
// key. Or a task of the next iteration has no counterpart in this one, or tasks of two workers share a
// result_flag.
struct not_replayable : misuse {
  using misuse::misuse;
};

// In a replay, the body of a task fulfilled other keys than in the recorded run.
struct replay_differs : misuse {
  using misuse::misuse;
};

// Bytes that came as a message are not what its handler takes: they end too early, or name what can't be.
struct malformed_message : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The function that says where the data of a large message are to land returned memory of another size.
struct wrong_landing : misuse {
  using misuse::misuse;
};

// The ranks of a job have registered different messages, run different programs, or say of a key of a graph
// that it belongs to different ranks.
struct ranks_differ : misuse {
  using misuse::misuse;
};

// Something that another rank ran threw an exception, so that the whole job's run ended. The message says
// what the exception said.
struct rank_failed : std::runtime_error {
  rank_failed(const std::string& message, int on) : std::runtime_error(message), rank(on) {}
  int rank;  // where
};

// An operation of MPI that a task waits for has failed. The message names the operation and MPI's reason.
struct communication_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An option can't be honoured: a TEFF_* variable that is not a number, more workers than there is room for.
// The message names the option or variable, its value, and what it may be.
struct invalid_option : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace teff
