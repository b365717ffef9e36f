// OpenMP tasks: one thread of a team begins, the others take tasks.
#pragma once

#include <utility>

#include "runtime.hpp"
#include "teff/spawn/task_system.hpp"

namespace {

class task_system {
 public:
  explicit task_system(int workers) : team_(start_team(workers)) {}
  static int default_workers() { return cores(); }

  [[nodiscard]] teff::bench::identity describe() const { return identify("spawn", team_); }

  template <class Body>
  static void run(Body body) {
#pragma omp parallel
    {
      bind_thread();
#pragma omp single
      body();
    }
  }

  struct tasks {
    template <class Function>
    void spawn(Function function) const {
#pragma omp task firstprivate(function)
      function();
    }
  };

  template <class Body>
  static void scope(Body body) {
    const tasks all;
    body(all);
#pragma omp taskwait
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    decltype(first()) a;
#pragma omp task firstprivate(first) shared(a)
    a = first();
    auto b = second();
#pragma omp taskwait
    return std::pair(a, b);
  }

  /// The loop is divided among the threads, and each of its iterations spawns.
  template <class Function>
  static void spawn_each(std::int64_t count, Function function) {
#pragma omp taskloop firstprivate(function)
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
#pragma omp task firstprivate(function, i)
      function(static_cast<std::int64_t>(i));
    }
  }

 private:
  int team_;
};

}  // namespace
