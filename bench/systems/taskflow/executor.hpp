#pragma once

#include <pthread.h>

#include <cstddef>
#include <taskflow/taskflow.hpp>

#include "teff/bench/cores.hpp"

/// Binds each worker to its core.
class pinned final : public tf::WorkerInterface {
 public:
  void scheduler_prologue(tf::Worker& worker) override {
    teff::bench::bind_to_core(static_cast<int>(worker.id()));
  }
  void scheduler_epilogue(tf::Worker&, std::exception_ptr) override {}
};

/// A waiting task takes others on top of its own stack, siblings too: the tree T3 nests 80 MB of them.
inline void let_stacks_grow() {
  constexpr std::size_t stack_bytes = std::size_t{1} << 30;  // only what is used is resident
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}
