// Tasks of oneTBB: a task_group a scope, and parallel_for down to single iterations.
#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <utility>

#include "pinned_arena.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

class task_system {
 public:
  explicit task_system(int workers) : arena_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "tbb", .variant = "spawn", .version = tbb_version(), .workers = arena_.workers()};
  }

  template <class Body>
  void run(Body body) {
    arena_.execute([&] {
      arena_.wake_all();
      body();
    });
  }

  struct tasks {
    tbb::task_group group;

    template <class Function>
    void spawn(Function function) {
      group.run(function);
    }
  };

  template <class Body>
  static void scope(Body body) {
    tasks all;
    body(all);
    all.group.wait();
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
    tbb::task_group group;
    group.run([&a, first] { a = first(); });
    auto b = second();
    group.wait();
    return std::pair(a, b);
  }

  template <class Function>
  static void spawn_each(std::int64_t count, Function function) {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, count, 1),
        [function](const auto& range) {
          for (std::int64_t i = range.begin(); i != range.end(); ++i) function(i);
        },
        tbb::simple_partitioner());
  }

 private:
  pinned_arena arena_;
};

}  // namespace
