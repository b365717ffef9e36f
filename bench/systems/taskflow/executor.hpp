#pragma once

#include <pthread.h>

#include <cstddef>
#include <string>
#include <taskflow/taskflow.hpp>
#include <utility>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/start_barrier.hpp"

/// Binds each worker to its core.
class pinned final : public tf::WorkerInterface {
 public:
  void scheduler_prologue(tf::Worker& worker) override {
    teff::bench::bind_to_core(static_cast<int>(worker.id()));
  }
  void scheduler_epilogue(tf::Worker&, std::exception_ptr) override {}
};

/// A waiting task runs others on top of its stack, siblings too: the tree T3 nests 80 MB of them.
inline void let_stacks_grow() {
  constexpr std::size_t stack_bytes = std::size_t{1} << 30;  // only the used part is resident
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

/// The workers of a program, and asynchronous tasks on them: a task_group a scope, whose corun() takes tasks
/// while it waits.
class executor {
 public:
  explicit executor(int workers)
      : executor_((let_stacks_grow(), static_cast<std::size_t>(workers)),
                  tf::make_worker_interface<pinned>()) {
    here = &executor_;
  }

  template <class Body>
  void run(const Body& body) {
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
  static void scope(const Body& body) {
    tasks all;
    body(all);
    all.group.corun();
  }

 protected:
  [[nodiscard]] teff::bench::identity describe(std::string variant) const {
    return {.system = "taskflow",
            .variant = std::move(variant),
            .version = tf::version(),
            .workers = static_cast<int>(executor_.num_workers())};
  }

  void wake_all() {
    teff::bench::start_barrier all(static_cast<int>(executor_.num_workers()));
    for (std::size_t i = 0; i < executor_.num_workers(); ++i)
      executor_.silent_async([&all] { all.arrive_and_wait(); });
    executor_.wait_for_all();
  }

  static inline tf::Executor* here = nullptr;  // the executor of a scope's tasks: this program has one
  tf::Executor executor_;
};
