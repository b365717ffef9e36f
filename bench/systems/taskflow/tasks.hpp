// Asynchronous tasks of Taskflow: a task_group a scope, whose corun() takes tasks while
// it waits.
#pragma once

#include <utility>

#include "executor.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

class task_system {
 public:
  explicit task_system(int workers)
      : executor_((let_stacks_grow(), static_cast<std::size_t>(workers)),
                  tf::make_worker_interface<pinned>()) {
    here = &executor_;
  }

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "taskflow",
            .variant = "task_group",
            .version = tf::version(),
            .workers = static_cast<int>(executor_.num_workers())};
  }

  template <class Body>
  void run(Body body) {
    executor_.async([&] { body(); }).get();
  }

  struct tasks {
    tf::TaskGroup group = here->task_group();

    template <class Function>
    void spawn(Function function) {
      group.silent_async(function);
    }
  };

  template <class Body>
  static void scope(Body body) {
    tasks all;
    body(all);
    all.group.corun();
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
    tf::TaskGroup group = here->task_group();
    group.silent_async([&a, first] { a = first(); });
    auto b = second();
    group.corun();
    return std::pair(a, b);
  }

 private:
  static inline tf::Executor* here = nullptr;  ///< whose tasks the patterns are: this program has one
  tf::Executor executor_;
};

}  // namespace
