#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "teff/spawn/null_task.hpp"
#include "teff/spawn/task_system.hpp"
#include "teff/spawn/tree.hpp"
#include "teff/spawn/work.hpp"

/// The four spawn patterns, each written once for every system (task_system.hpp). A system whose tasks are no
/// plain calls has functions in the place of these: serial_spawn(n), parallel_spawn(n), fibonacci_both(n),
/// fibonacci_one(n), search_tree(tree, root). If it has such a function, the benchmark calls it.
namespace teff::spawn {

template <class System>
concept gives_serial_spawn = requires { System::serial_spawn(std::int64_t{1}); };
template <class System>
concept gives_parallel_spawn = requires { System::parallel_spawn(std::int64_t{1}); };
template <class System>
concept gives_fibonacci_both = requires { System::fibonacci_both(1); };
template <class System>
concept gives_fibonacci_one = requires { System::fibonacci_one(1); };
template <class System>
concept gives_search_tree = requires(const tree& of) { System::search_tree(of, of.root()); };

/// N null tasks, spawned one after the other by one task.
template <class System>
  requires(gives_serial_spawn<System> || has_scope<System>)
void serial_spawn(std::int64_t tasks) {
  if constexpr (gives_serial_spawn<System>) {
    System::serial_spawn(tasks);
  } else {
    System::scope([tasks](auto& all) {
      for (std::int64_t i = 0; i < tasks; ++i) all.spawn([i] { null_task(i); });
    });
  }
}

template <class System, class First, class Second>
void fork2_void(First first, Second second) {
  if constexpr (has_fork2_void<System>) {
    System::fork2_void(first, second);
  } else {
    const auto valued = [](auto function) { return [=] { return function(), char{}; }; };
    System::fork2(valued(first), valued(second));
  }
}

/// Halves the indices until each is alone: the best that a system without a parallel loop can do.
template <class System>
void spawn_halves(std::int64_t first, std::int64_t end) {
  if (end - first == 1) {
    null_task(first);
  } else {
    const std::int64_t middle = first + (end - first) / 2;
    fork2_void<System>([=] { spawn_halves<System>(first, middle); },
                       [=] { spawn_halves<System>(middle, end); });
  }
}

/// N null tasks, spawned by a parallel loop.
template <class System>
  requires(gives_parallel_spawn<System> || has_spawn_each<System> || has_fork2<System>)
void parallel_spawn(std::int64_t tasks) {
  if constexpr (gives_parallel_spawn<System>) {
    System::parallel_spawn(tasks);
  } else if constexpr (has_spawn_each<System>) {
    System::spawn_each(tasks, [](std::int64_t i) { null_task(i); });
  } else {
    spawn_halves<System>(0, tasks);
  }
}

/// Fibonacci's number. Both calls within each call are tasks.
template <class System>
  requires(gives_fibonacci_both<System> || has_fork_both<System> || has_scope<System>)
std::int64_t fibonacci_both(std::int32_t n) {
  if constexpr (gives_fibonacci_both<System>) {
    return System::fibonacci_both(n);
  } else if constexpr (has_fork_both<System>) {
    if (n < 2) return n;
    const auto [a, b] = System::fork_both([n] { return fibonacci_both<System>(n - 1); },
                                          [n] { return fibonacci_both<System>(n - 2); });
    return a + b;
  } else {
    if (n < 2) return n;
    std::int64_t a = 0;
    std::int64_t b = 0;
    System::scope([&a, &b, n](auto& tasks) {
      tasks.spawn([&a, n] { a = fibonacci_both<System>(n - 1); });
      tasks.spawn([&b, n] { b = fibonacci_both<System>(n - 2); });
    });
    return a + b;
  }
}

/// Fibonacci's number. One call within each call is a task.
template <class System>
  requires(gives_fibonacci_one<System> || has_fork2<System>)
std::int64_t fibonacci_one(std::int32_t n) {
  if constexpr (gives_fibonacci_one<System>) {
    return System::fibonacci_one(n);
  } else {
    if (n < 2) return n;
    const auto [a, b] = System::fork2([n] { return fibonacci_one<System>(n - 1); },
                                      [n] { return fibonacci_one<System>(n - 2); });
    return a + b;
  }
}

/// Room for what each child of a node has found; within the frame if they are few. It is written before it is
/// read, so it need not be cleared.
class found_below {
 public:
  explicit found_below(std::int32_t children) {
    if (children > few) many_ = std::make_unique<tree_counts[]>(static_cast<std::size_t>(children));
  }
  [[nodiscard]] tree_counts* data() { return many_ ? many_.get() : reinterpret_cast<tree_counts*>(few_); }

 private:
  static constexpr std::int32_t few = 8;
  alignas(tree_counts) std::byte few_[few * sizeof(tree_counts)];
  std::unique_ptr<tree_counts[]> many_;
};

template <class System>
  requires(gives_search_tree<System> || has_scope<System>)
tree_counts search_tree(const tree& of, const node& from);

/// Searches below a node that has children. Each child is a task but the last, which the parent searches
/// itself. Not inline, or a leaf would pay for this function's frame.
template <class System>
[[gnu::noinline]] tree_counts search_children(const tree& of, const node& from, std::int32_t children) {
  found_below below(children);
  tree_counts* const found = below.data();
  System::scope([&of, &from, found, children](auto& tasks) {
    for (std::int32_t i = 0; i + 1 < children; ++i)
      tasks.spawn([&of, &from, found, i] { found[i] = search_tree<System>(of, tree::child(from, i)); });
    found[children - 1] = search_tree<System>(of, tree::child(from, children - 1));
  });
  tree_counts seen{1, 0, from.depth};
  for (std::int32_t i = 0; i < children; ++i) seen += found[i];
  return seen;
}

/// Searches the tree from a node on.
template <class System>
  requires(gives_search_tree<System> || has_scope<System>)
tree_counts search_tree(const tree& of, const node& from) {
  if constexpr (gives_search_tree<System>) {
    return System::search_tree(of, from);
  } else {
    const std::int32_t children = of.children(from);
    if (children == 0) return {1, 1, from.depth};
    return search_children<System>(of, from, children);
  }
}

/// Why the system can't run this work; empty if it can.
template <class System>
[[nodiscard]] std::string missing(const work& asked) {
  const bool both = asked.children == spawning::both;
  switch (asked.what) {
    case pattern::serial:
      if (requires { serial_spawn<System>(1); }) return {};
      return "it has no tasks that one task spawns one after the other";
    case pattern::parallel:
      if (requires { parallel_spawn<System>(1); }) return {};
      return "it has no loop whose iterations are tasks";
    case pattern::fibonacci:
      if (both ? requires { fibonacci_both<System>(1); } : requires { fibonacci_one<System>(1); }) return {};
      return both ? "it has no tasks that a task spawns and waits for" : "it has no fork-join of two";
    case pattern::tree:
      if (requires { search_tree<System>(asked.tree, asked.tree.root()); }) return {};
      return "it has no tasks that a task spawns and waits for";
  }
  return {};
}

/// Runs the work. Call it where the system's tasks may be spawned, and only if missing() says nothing.
template <class System>
[[nodiscard]] result run_pattern(const work& asked) {
  result found;
  switch (asked.what) {
    case pattern::serial:
      if constexpr (requires { serial_spawn<System>(1); }) serial_spawn<System>(asked.tasks);
      break;
    case pattern::parallel:
      if constexpr (requires { parallel_spawn<System>(1); }) parallel_spawn<System>(asked.tasks);
      break;
    case pattern::fibonacci:
      if (asked.children == spawning::both) {
        if constexpr (requires { fibonacci_both<System>(1); })
          found.fibonacci = fibonacci_both<System>(asked.n);
      } else {
        if constexpr (requires { fibonacci_one<System>(1); })
          found.fibonacci = fibonacci_one<System>(asked.n);
      }
      break;
    case pattern::tree:
      if constexpr (requires { search_tree<System>(asked.tree, asked.tree.root()); })
        found.tree = search_tree<System>(asked.tree, asked.tree.root());
      break;
  }
  return found;
}

}  // namespace teff::spawn
