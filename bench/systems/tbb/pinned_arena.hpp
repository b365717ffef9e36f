#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <oneapi/tbb/version.h>

#include <string>

#include "teff/bench/cores.hpp"
#include "teff/bench/start_barrier.hpp"

/// `workers` threads, the calling one among them, each pinned to a core. They live as long as the arena.
class pinned_arena {
 public:
  explicit pinned_arena(int workers)
      : workers_(workers),
        limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
        arena_(workers, 1),
        pin_(arena_) {}

  template <class Body>
  void execute(Body body) {
    arena_.execute(body);
  }

  /// Returns when all workers are awake in the arena. Called in it. Idle threads sleep, and oneTBB promises
  /// none: the wait for them has an end.
  void wake_all() const {
    teff::bench::start_barrier all(workers_);
    const auto attend = [&] { all.arrive_and_wait(); };
    tbb::task_group others;
    for (int i = 1; i < workers_; ++i) others.run(attend);
    others.run_and_wait(attend);
  }

 private:
  class pin final : public tbb::task_scheduler_observer {
   public:
    explicit pin(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) { observe(true); }
    ~pin() override { observe(false); }
    pin(const pin&) = delete;
    pin& operator=(const pin&) = delete;

    void on_scheduler_entry(bool) override {
      thread_local int core = -1;  // a thread that comes back may be given another index
      const int index = tbb::this_task_arena::current_thread_index();
      if (core == index) return;
      core = index;
      teff::bench::bind_to_core(core);
    }
  };

  int workers_;
  tbb::global_control limit_;
  tbb::task_arena arena_;
  pin pin_;
};

inline std::string tbb_version() {
  return std::string("oneTBB ") + TBB_runtime_version();
}
