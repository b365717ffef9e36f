// Asynchronous tasks of Taskflow.
#pragma once

#include <utility>

#include "executor.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

class task_system : public executor {
 public:
  using executor::executor;

  [[nodiscard]] teff::bench::identity describe() const { return executor::describe("task_group"); }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
    tf::TaskGroup group = here->task_group();
    group.silent_async([&a, first] { a = first(); });
    auto b = second();
    group.corun();
    return std::pair(a, b);
  }
};

}  // namespace
