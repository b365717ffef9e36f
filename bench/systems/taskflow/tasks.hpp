// Asynchronous tasks of Taskflow: a task_group a scope, whose corun() takes tasks while
// it waits.
#pragma once

#include <pthread.h>

#include <taskflow/taskflow.hpp>
#include <utility>

#include "teff/spawn/task_system.hpp"

namespace {

class pinned final : public tf::WorkerInterface {
 public:
  void scheduler_prologue(tf::Worker& worker) override {
    teff::bench::bind_to_core(static_cast<int>(worker.id()));
  }
  void scheduler_epilogue(tf::Worker&, std::exception_ptr) override {}
};

/// A waiting task takes others on top of its own stack, siblings too: the tree T3 nests 80 MB of them.
void let_stacks_grow() {
  constexpr std::size_t stack_bytes = std::size_t{1} << 30;  // only what is used is resident
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

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
