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
///   void run(body);                   calls body() once, where tasks may be spawned, when all workers are
///                                     awake.
///   static int default_workers();     only if that is not bench::usable_cores().
///
/// and some of
///
///   static void scope(body);          calls body(tasks), in which tasks.spawn(f) makes f() a task.
///                                     Returns when all of them have run. Tasks may open scopes, too.
///   static std::pair<A, B> fork2(f, g);  runs f and g, one of them as a task; returns both results.
///   static void fork2_void(f, g);     as fork2, if they return nothing. In a system with fork2 only, they
///                                     return a char.
///   static std::pair<A, B> fork_both(f, g);  runs f and g as two tasks; returns both results.
///   static void spawn_each(n, f);     runs a parallel loop, in which each of f(0) to f(n - 1) is a task.
///
/// The types of f and g are known when the program is compiled, and the caller's frame outlives the tasks. A
/// system whose tasks are no plain calls (coroutines, macros) has functions for whole patterns instead;
/// spawn_patterns.hpp names them.
///
/// Of a system of several processes only one has the main program: the constructor of the others does what
/// that one says and never returns. Null tasks that ran there are counted by add_null_tasks().
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

/// How many workers a system gets if the flags name no number.
template <class System>
[[nodiscard]] int default_workers() {
  if constexpr (requires { System::default_workers(); }) {
    return System::default_workers();
  } else {
    return bench::usable_cores();
  }
}

}  // namespace teff::spawn
