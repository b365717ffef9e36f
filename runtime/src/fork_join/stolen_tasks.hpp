// How a thief runs the slots it stole, and tells scopes that their tasks in them have ended.
//
// Protocol: src/fork_join/README.md, "The end of a scope". tests/scope_model_test.cpp checks this very code.
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>

#include <utility>

namespace teff::detail {

// A scope is told once for all of its tasks that the worker took in a row, and before the worker begins
// anything else. `Worker`: as scope_tasks.
template <class Worker>
class stolen_tasks {
  using slot = typename Worker::slot;
  using scope = typename Worker::scope;

 public:
  explicit stolen_tasks(stolen_record<slot, scope>& kept) noexcept : kept_(kept) {}

  // The slot, which the calling worker stole; then what that left in the worker's deque.
  void run(slot& stolen) noexcept {
    struct host : scope {};
    host spawned_by_it;
    if (!is_alike(stolen)) tell();
    const auto run = stolen.run;  // a scope's task leaves the slot
    run(stolen, thief<scope>);
    kept_.last_run = run;
    if (spawned_by_it.hosts_tasks()) tell();
    spawned_by_it.end_as_host();
  }

  // A stolen task of this scope has ended. If others have that were not told, run() found it to be alike.
  void ended(scope& of) noexcept {
    kept_.ended_of = &of;
    ++kept_.ended;
  }

  // The worker is about to begin something else.
  void tell() noexcept {
    if (kept_.ended == 0) return;
    kept_.ended_of->complete(std::exchange(kept_.ended, 0));
  }

 private:
  // Whether it is a task of the scope that has not been told of others. (Only a scope's task begins with a
  // scope, and it is one if it is run as the last of those was.)
  [[nodiscard]] bool is_alike(slot& stolen) const noexcept {
    return kept_.ended != 0 && stolen.run == kept_.last_run && Worker::scope_of(stolen) == kept_.ended_of;
  }

  stolen_record<slot, scope>& kept_;
};

}  // namespace teff::detail
