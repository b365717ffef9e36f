// Tasks as Argobots' user-level threads, each in the pool of the stream that spawns it.
#pragma once

#include <abt.h>

#include <memory>
#include <utility>
#include <vector>

#include "streams.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

class task_system {
 public:
  explicit task_system(int workers) : streams_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const { return streams_.describe("ult"); }

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
    ABT_thread thread = ABT_THREAD_NULL;
    check(ABT_thread_create(streams::pool_of(streams::here()), function, argument, ABT_THREAD_ATTR_NULL,
                            &thread));
    return thread;
  }

  streams streams_;
};

}  // namespace
