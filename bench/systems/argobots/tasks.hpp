// Tasks as Argobots' user-level threads: an execution stream a worker, each with a pool of its
// own and a scheduler that steals from the others'.
#pragma once

#include <abt.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "teff/spawn/task_system.hpp"

namespace {

void check(int code) {
  if (code != ABT_SUCCESS) throw std::runtime_error("Argobots fails with code " + std::to_string(code));
}

class task_system {
 public:
  /// The thread that calls becomes the first stream.
  explicit task_system(int workers) : streams_(static_cast<std::size_t>(workers)) {
    check(ABT_init(0, nullptr));
    pools.resize(streams_.size());
    for (ABT_pool& each : pools)
      check(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &each));
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      std::vector<ABT_pool> own_first(pools.begin() + static_cast<std::ptrdiff_t>(i), pools.end());
      own_first.insert(own_first.end(), pools.begin(), pools.begin() + static_cast<std::ptrdiff_t>(i));
      ABT_sched scheduler = ABT_SCHED_NULL;
      check(ABT_sched_create_basic(ABT_SCHED_RANDWS, workers, own_first.data(), ABT_SCHED_CONFIG_NULL,
                                   &scheduler));
      if (i == 0) {
        check(ABT_xstream_self(&streams_[0]));
        check(ABT_xstream_set_main_sched(streams_[0], scheduler));
      } else {
        check(ABT_xstream_create(scheduler, &streams_[i]));
      }
    }
  }
  ~task_system() {
    for (std::size_t i = 1; i < streams_.size(); ++i) ABT_xstream_free(&streams_[i]);  // joins
    ABT_finalize();
  }
  task_system(const task_system&) = delete;
  task_system& operator=(const task_system&) = delete;

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "argobots",
            .variant = "ult",
            .version = ABT_VERSION,
            .workers = static_cast<int>(streams_.size())};
  }

  template <class Body>
  static void run(Body body) {
    body();
  }

  class tasks {
   public:
    /// A task outlives the call that spawns it: its closure is given to it.
    template <class Function>
    void spawn(Function function) {
      auto own = std::make_unique<Function>(function);
      threads_.push_back(create(
          [](void* given) { (*std::unique_ptr<Function>(static_cast<Function*>(given)))(); }, own.get()));
      own.release();
    }
    void wait() {
      for (ABT_thread& each : threads_) check(ABT_thread_free(&each));  // joins
    }

   private:
    std::vector<ABT_thread> threads_;
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
    ABT_thread thread = create([](void* given) { (*static_cast<decltype(task)*>(given))(); }, &task);
    auto b = second();
    check(ABT_thread_free(&thread));  // joins
    return std::pair(a, b);
  }

 private:
  /// In the pool of the stream that calls.
  static ABT_thread create(void (*function)(void*), void* argument) {
    int rank = 0;
    check(ABT_self_get_xstream_rank(&rank));
    ABT_thread thread = ABT_THREAD_NULL;
    check(ABT_thread_create(pools[static_cast<std::size_t>(rank)], function, argument, ABT_THREAD_ATTR_NULL,
                            &thread));
    return thread;
  }

  static inline std::vector<ABT_pool> pools;  ///< by stream: this program has one set
  std::vector<ABT_xstream> streams_;
};

}  // namespace
