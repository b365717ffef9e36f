#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <oneapi/tbb/version.h>

#include <string>

#include "teff/bench/cores.hpp"
#include "teff/bench/start_barrier.hpp"
#include "teff/bench/workers.hpp"

/// `workers` threads, the calling one among them, each pinned to a core. They live as long as the arena.
class pinned_arena {
 public:
  explicit pinned_arena(int workers)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
        arena_(workers, 1),
        pin_(arena_) {
    arena_.execute([&] {
      workers_ = teff::bench::count_workers(workers, [&](auto answer) { run_on_each(workers, answer); });
    });
  }

  /// The threads that have been seen to work in the arena.
  [[nodiscard]] int workers() const { return workers_; }

  template <class Body>
  void execute(Body body) {
    arena_.execute(body);
  }

  /// Returns when all workers are awake in the arena. Called in it. Idle threads sleep, and oneTBB promises
  /// none: the wait for them has an end.
  void wake_all() const {
    teff::bench::start_barrier all(workers_);
    run_on_each(workers_, [&] { all.arrive_and_wait(); });
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

  /// Runs so many tasks at once, one of them in the calling thread.
  template <class Body>
  static void run_on_each(int workers, const Body& body) {
    tbb::task_group others;
    for (int i = 1; i < workers; ++i) others.run(body);
    others.run_and_wait(body);
  }

  int workers_ = 0;
  tbb::global_control limit_;
  tbb::task_arena arena_;
  pin pin_;
};

inline std::string tbb_version() {
  return std::string("oneTBB ") + TBB_runtime_version();
}
