#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"

/// A system with tasks that spawn tasks, as kinds of benchmarks see it: the class `task_system` in its
/// folder's tasks.hpp. Each of these programs includes one such header, once. It is constructed with the
/// number of workers, which live as long as it does, and has
///
///   bench::identity describe() const;
///   void run(body);                   calls body() once, where its tasks may be spawned, with its workers
///   awake. static int default_workers();     only where it is not bench::usable_cores()
///
/// and some of
///
///   static void scope(body);          calls body(tasks), in which tasks.spawn(f) makes f() a task of its
///   own;
///                                     returns when all of them have run. Nests in tasks at will.
///   static std::pair<A, B> fork2(f, g);  both, one of them as a task; what they return.
///   static void fork2_void(f, g);     the same where they return nothing; of a system that has fork2 only,
///                                     they return a char.
///   static std::pair<A, B> fork_both(f, g);  both, each as a task of its own; what they return.
///   static void spawn_each(n, f);     a parallel loop, in which f(0) to f(n - 1) are tasks of their own.
///
/// f and g are compile-time closures that the caller's frame outlives. Where a system's tasks are no plain
/// calls (coroutines, macros), it has what a benchmark runs itself instead; spawn_patterns.hpp names the
/// functions.
namespace teff::spawn {

template <class System>
concept has_scope = requires { System::scope([](auto& tasks) { tasks.spawn([] {}); }); };
template <class System>
concept has_fork2 = requires { System::fork2([] { return 1; }, [] { return 2; }).second; };
template <class System>
concept has_fork2_void = requires { System::fork2_void([] {}, [] {}); };
template <class System>
concept has_fork_both = requires { System::fork_both([] { return 1; }, [] { return 2; }).second; };
template <class System>
concept has_spawn_each = requires { System::spawn_each(std::int64_t{1}, [](std::int64_t) {}); };

/// How many workers a system gets where nobody says.
template <class System>
[[nodiscard]] int default_workers() {
  if constexpr (requires { System::default_workers(); }) {
    return System::default_workers();
  } else {
    return bench::usable_cores();
  }
}

}  // namespace teff::spawn
