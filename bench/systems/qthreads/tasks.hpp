// Tasks as qthreads: each task is a thread with a small stack. A scope counts its tasks with a sinc; a fork
// of two waits for one of them by the full/empty bit of its result.
#pragma once

#include <qthread/qthread.h>
#include <qthread/sinc.h>

#include <algorithm>
#include <utility>

#include "session.hpp"
#include "teff/bench/cores.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

/// The start function of a qthread: calls a copy of a closure, or the closure itself.
template <class Function>
aligned_t call(void* function) {
  (*static_cast<Function*>(function))();
  return 0;
}

class task_system {
 public:
  /// No more workers than cores: a spin lock is handed on in order of arrival, to a worker that has lost its
  /// core, too.
  explicit task_system(int workers) : session_(std::min(workers, teff::bench::usable_cores())) {}

  [[nodiscard]] static teff::bench::identity describe() { return session::describe("sinc"); }

  template <class Body>
  static void run(Body body) {
    body();
  }

  class tasks {
   public:
    /// The scope itself is one of those that are counted, until it waits: the count is not 0 before.
    tasks() { qt_sinc_init(&running_, 0, nullptr, nullptr, 1); }
    ~tasks() { qt_sinc_fini(&running_); }
    tasks(const tasks&) = delete;
    tasks& operator=(const tasks&) = delete;

    template <class Function>
    void spawn(Function function) {
      qt_sinc_expect(&running_, 1);
      check(qthread_spawn(call<Function>, &function, sizeof(function), &running_, 0, nullptr, NO_SHEPHERD,
                          QTHREAD_SPAWN_RET_SINC_VOID));
    }
    void wait() {
      qt_sinc_submit(&running_, nullptr);
      qt_sinc_wait(&running_, nullptr);
    }

   private:
    qt_sinc_t running_;
  };

  template <class Body>
  static void scope(Body body) {
    tasks all;
    body(all);
    all.wait();
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
    auto task = [&a, &first] { a = first(); };
    aligned_t done = 0;
    check(qthread_fork(call<decltype(task)>, &task, &done));
    auto b = second();
    qthread_readFF(nullptr, &done);
    return std::pair(a, b);
  }

 private:
  session session_;
};

}  // namespace
