// How a thief runs the slots it stole, and tells scopes that their tasks in them have ended.
//
// Protocol: src/fork_join/README.md, "The end of a scope". tests/scope_model_test.cpp checks this very code.
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>

#include <cstdint>
#include <utility>

namespace teff::detail {

// A scope is told once for all of its tasks that the worker took in a row, and before the worker begins
// anything else. `Worker`: as scope_tasks.
template <class Worker>
class stolen_tasks {
  using slot = typename Worker::slot;
  using scope = typename Worker::scope;

 public:
  // The slot, which the calling worker stole; then what that left in the worker's deque.
  void run(slot& stolen) noexcept {
    struct host : scope {};
    host spawned_by_it;
    if (!is_alike(stolen)) tell();
    const auto run = stolen.run;  // a scope's task leaves the slot
    run(stolen, thief<scope>);
    last_run_ = run;
    if (spawned_by_it.hosts_tasks()) tell();
    spawned_by_it.end_as_host();
  }

  // A stolen task of this scope has ended. If others have that were not told, run() found it to be alike.
  void ended(scope& of) noexcept {
    ended_of_ = &of;
    ++ended_;
  }

  // The worker is about to begin something else.
  void tell() noexcept {
    if (ended_ == 0) return;
    ended_of_->complete(std::exchange(ended_, 0));
  }

 private:
  // Whether it is a task of the scope that has not been told of others. (Only a scope's task begins with a
  // scope, and it is one if it is run as the last of those was.)
  [[nodiscard]] bool is_alike(slot& stolen) const noexcept {
    return ended_ != 0 && stolen.run == last_run_ && Worker::scope_of(stolen) == ended_of_;
  }

  // Tasks that have ended, all of one scope, which has not been told.
  scope* ended_of_ = nullptr;
  std::int64_t ended_ = 0;
  decltype(slot::run) last_run_ = nullptr;  // by which the last stolen slot was run
};

}  // namespace teff::detail
