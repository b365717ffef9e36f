#pragma once

#include <tasktorrent/tasktorrent.hpp>

#include <atomic>
#include <latch>
#include <utility>

#include "teff/bench/cores.hpp"

/// A pool of TaskTorrent's threads, each bound to a core, and a gate before them. They run from gather() to
/// the pool's join().
template <class Pool>
class pinned_pool {
 public:
  /// `arguments` are the pool's arguments after the number of its threads.
  template <class... Arguments>
  explicit pinned_pool(int threads, Arguments&&... arguments)
      : threads_(threads), waiting_(threads), pool_(threads, std::forward<Arguments>(arguments)...) {}

  /// Runs such a pool once, and returns how many of its threads stood at the gate.
  template <class... Arguments>
  [[nodiscard]] static int count(int threads, Arguments&&... arguments) {
    pinned_pool all(threads, std::forward<Arguments>(arguments)...);
    all.gather();
    all.open();
    all.pool_.join();
    return all.gathered_;
  }

  [[nodiscard]] Pool& pool() { return pool_; }

  /// Starts the threads, and returns when each stands at the gate, with nothing that may run before it.
  void gather() {
    for (int thread = 0; thread < threads_; ++thread) {
      auto* const task = new Task();
      task->run = [this, thread] {
        teff::bench::bind_to_core(thread);
        number() = thread;
        ++gathered_;
        waiting_.count_down();
        open_.wait();
      };
      task->fulfill = [] {};
      task->priority = 0;
      pool_.insert(task, thread, true);
    }
    pool_.start();
    waiting_.wait();
  }
  void open() { open_.count_down(); }

  /// Of the thread that calls.
  [[nodiscard]] static int this_thread() { return number(); }

 private:
  static int& number() {
    thread_local int thread = 0;
    return thread;
  }

  int threads_;
  std::atomic<int> gathered_ = 0;
  std::latch waiting_;
  std::latch open_{1};
  Pool pool_;
};
