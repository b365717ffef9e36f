// Tasks in OpenCilk's C++. A function waits for its spawned tasks before it returns. So no other function can
// spawn for it, and the patterns are written whole.
#pragma once

#include <cilk/cilk.h>
#include <cilk/cilk_api.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "teff/spawn/spawn_patterns.hpp"

namespace {

using namespace teff::spawn;

std::int64_t fib_both(std::int32_t n) {
  if (n < 2) return n;
  std::int64_t a = cilk_spawn fib_both(n - 1);
  std::int64_t b = cilk_spawn fib_both(n - 2);
  cilk_sync;
  return a + b;
}

std::int64_t fib_one(std::int32_t n) {
  if (n < 2) return n;
  std::int64_t a = cilk_spawn fib_one(n - 1);
  std::int64_t b = fib_one(n - 2);
  cilk_sync;
  return a + b;
}

tree_counts search_below(const tree& of, const node& from);

/// Makes the child, too: the parent pays for an argument of a spawn.
void search_child(const tree& of, const node& from, std::int32_t index, tree_counts& found) {
  found = search_below(of, tree::child(from, index));
}

/// Not in line, or a leaf would pay for the frame of this.
[[gnu::noinline]] tree_counts search_children(const tree& of, const node& from, std::int32_t children) {
  found_below below(children);
  tree_counts* const found = below.data();
  for (std::int32_t i = 0; i + 1 < children; ++i) cilk_spawn search_child(of, from, i, found[i]);
  search_child(of, from, children - 1, found[children - 1]);
  cilk_sync;
  tree_counts seen{1, 0, from.depth};
  for (std::int32_t i = 0; i < children; ++i) seen += found[i];
  return seen;
}

tree_counts search_below(const tree& of, const node& from) {
  const std::int32_t children = of.children(from);
  if (children == 0) return {1, 1, from.depth};
  return search_children(of, from, children);
}

class task_system {
 public:
  /// The runtime has read its environment before main, and nothing tells it otherwise.
  explicit task_system(int workers) {
    if (__cilkrts_get_nworkers() != static_cast<unsigned>(workers) || !std::getenv("CILK_DEQDEPTH"))
      throw std::runtime_error("OpenCilk wants to be started with CILK_NWORKERS=" + std::to_string(workers) +
                               " CILK_DEQDEPTH=65536 CILK_STACKSIZE=8192000 in the environment");
  }

  [[nodiscard]] static teff::bench::identity describe() {
    return {.system = "opencilk",
            .variant = "cilk",
            .version = "OpenCilk of Clang " TEFF_OPENCILK_VERSION,
            .workers = static_cast<int>(__cilkrts_get_nworkers())};
  }

  template <class Body>
  static void run(Body body) {
    enter([](void* context) { (*static_cast<Body*>(context))(); }, &body);
  }

  static void serial_spawn(std::int64_t tasks) {
    for (std::int64_t i = 0; i < tasks; ++i) cilk_spawn null_task(i);
    cilk_sync;
  }
  /// Divided in halves, down to single iterations by the grain.
  static void parallel_spawn(std::int64_t tasks) {
#pragma cilk grainsize 1
    cilk_for(std::int64_t i = 0; i < tasks; ++i) null_task(i);
  }
  static std::int64_t fibonacci_both(std::int32_t n) { return fib_both(n); }
  static std::int64_t fibonacci_one(std::int32_t n) { return fib_one(n); }
  static tree_counts search_tree(const tree& of, const node& from) { return search_below(of, from); }

 private:
  /// The workers are woken before the timed region starts, since the outermost of Cilk's words wakes them.
  /// No template: Clang 16's OpenCilk fails at a loop of Cilk's in one.
  static void enter(void (*call)(void*), void* context) {
    cilk_scope {
      call(context);
    }
  }
};

}  // namespace
