// Lace's own tasks. They are C macros with typed arguments, which is what lets an
// unstolen task be a direct call, so the patterns are given whole. Children are waited for in the reverse
// order of their spawning.
#pragma once

#include "library.hpp"
#include "teff/spawn/spawn_patterns.hpp"

namespace {

using namespace teff::spawn;

using entry = void (*)(void*);

// A serial spawner fills a deque: 2^20 tasks are asked for. All of it counts as resident, so it is no larger.
constexpr std::size_t deque_size = (std::size_t{1} << 20) + (std::size_t{1} << 12);

}  // namespace

VOID_TASK_2(enter, entry, call, void*, context) {
  call(context);
}

VOID_TASK_1(null, std::int64_t, i) {
  null_task(i);
}

VOID_TASK_1(spawn_in_a_row, std::int64_t, tasks) {
  for (std::int64_t i = 0; i < tasks; ++i) SPAWN(null, i);
  for (std::int64_t i = 0; i < tasks; ++i) SYNC(null);
}

VOID_TASK_2(halves, std::int64_t, first, std::int64_t, end) {
  if (end - first == 1) {
    null_task(first);
  } else {
    const std::int64_t middle = first + (end - first) / 2;
    SPAWN(halves, middle, end);
    CALL(halves, first, middle);
    SYNC(halves);
  }
}

TASK_1(std::int64_t, fib_both, std::int32_t, n) {
  if (n < 2) return n;
  SPAWN(fib_both, n - 1);
  SPAWN(fib_both, n - 2);
  const std::int64_t b = SYNC(fib_both);
  return SYNC(fib_both) + b;
}

TASK_1(std::int64_t, fib_one, std::int32_t, n) {
  if (n < 2) return n;
  SPAWN(fib_one, n - 1);
  const std::int64_t b = CALL(fib_one, n - 2);
  return SYNC(fib_one) + b;
}

TASK_3(tree_counts, below, const tree*, of, const node*, parent, std::int32_t, index) {
  const node from = index < 0 ? *parent : tree::child(*parent, index);
  const std::int32_t children = of->children(from);
  for (std::int32_t i = 0; i + 1 < children; ++i) SPAWN(below, of, &from, i);
  tree_counts seen{1, children == 0 ? 1 : 0, from.depth};
  if (children > 0) seen += CALL(below, of, &from, children - 1);
  for (std::int32_t i = 0; i + 1 < children; ++i) seen += SYNC(below);
  return seen;
}

namespace {

class task_system {
 public:
  explicit task_system(int workers) : library_(workers, deque_size) {}

  [[nodiscard]] static teff::bench::identity describe() { return library::describe("macros"); }

  template <class Body>
  static void run(Body body) {
    RUN(enter, [](void* context) { (*static_cast<Body*>(context))(); }, &body);
  }

  static void serial_spawn(std::int64_t tasks) {
    LACE_VARS
    CALL(spawn_in_a_row, tasks);
  }
  static void parallel_spawn(std::int64_t tasks) {
    LACE_VARS
    CALL(halves, 0, tasks);
  }
  static std::int64_t fibonacci_both(std::int32_t n) {
    LACE_VARS
    return CALL(fib_both, n);
  }
  static std::int64_t fibonacci_one(std::int32_t n) {
    LACE_VARS
    return CALL(fib_one, n);
  }
  static tree_counts search_tree(const tree& of, const node& from) {
    LACE_VARS
    return CALL(below, &of, &from, -1);
  }

 private:
  library library_;
};

}  // namespace
