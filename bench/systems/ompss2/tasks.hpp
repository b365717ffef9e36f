// Tasks of OmpSs-2, and taskwait: a task that waits gives its worker to another, but keeps its thread. The
// queue is first in, first out, which would have thousands wait; so deeper tasks have priority.
#pragma once

#include <algorithm>
#include <utility>

#include "nodes_session.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

/// Of the task that runs on this thread.
thread_local nanos6_priority_t depth_here = 0;

/// #pragma oss task priority(depth)
template <class Function>
class nested_task {
 public:
  explicit nested_task(const Function& function) : function_(function), depth_(depth_here + 1) {}
  void operator()() {
    depth_here = depth_;  // of this thread, which runs nothing else until this task has ended
    function_();
  }
  [[nodiscard]] nanos6_priority_t priority() const { return depth_; }

 private:
  Function function_;
  nanos6_priority_t depth_;
};

class task_system {
 public:
  /// No more workers than cores: nOS-V has no more.
  explicit task_system(int workers) : session_(std::min(workers, teff::bench::usable_cores())) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "ompss2",
            .variant = "spawn",
            .version = nodes_session::release(),
            .workers = session_.workers()};
  }

  template <class Body>
  void run(Body body) const {
    session_.run(body);
  }

  struct tasks {
    template <class Function>
    void spawn(Function function) const {
      submit(nested_task(function));
    }
  };

  template <class Body>
  static void scope(Body body) {
    const tasks all;
    body(all);
    taskwait();
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
    submit(nested_task([&a, first] { a = first(); }));
    auto b = second();
    taskwait();
    return std::pair(a, b);
  }

 private:
  nodes_session session_;
};

}  // namespace
