// Tasks of libteff: teff::scope and teff::join, halving by join for the loop of tasks, and one
// join a child for the tree. (parallel_for makes tasks of its iterations only while a worker is idle, so it
// has too few tasks for a pattern that counts them.)
#pragma once

#include <teff/join.hpp>
#include <teff/runtime.hpp>
#include <teff/scope.hpp>

#include <utility>

#include "teff/spawn/spawn_patterns.hpp"

namespace {

using namespace teff::spawn;

class task_system {
 public:
  explicit task_system(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "teff",
            .variant = "fork_join",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  template <class Body>
  void run(Body body) {
    runtime_.run(body);
  }

  template <class Body>
  static void scope(Body body) {
    teff::scope tasks;
    body(tasks);
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    return teff::join(std::move(first), std::move(second));
  }

  template <class First, class Second>
  static void fork2_void(First first, Second second) {
    teff::join(std::move(first), std::move(second));
  }

  /// The first closure of a join is no task, so it is an empty one.
  template <class First, class Second>
  static auto fork_both(First first, Second second) {
    auto [none, left, right] = teff::join([] {}, std::move(first), std::move(second));
    return std::pair{std::move(left), std::move(right)};
  }

  static tree_counts search_tree(const tree& of, const node& from) {
    const std::int32_t children = of.children(from);
    if (children == 0) return {1, 1, from.depth};
    return search_children(of, from, 0, children);
  }

 private:
  /// Counts a node and the descendants of its children from the first on. Each child but the last makes the
  /// search of its later siblings a task. Not in line, or a leaf would pay for the frame of this.
  [[gnu::noinline]] static tree_counts search_children(const tree& of, const node& from, std::int32_t first,
                                                       std::int32_t end) {
    if (first + 1 == end) return tree_counts{1, 0, from.depth} + search_tree(of, tree::child(from, first));
    auto [here, later] =
        teff::join([&of, &from, first] { return search_tree(of, tree::child(from, first)); },
                   [&of, &from, first, end] { return search_children(of, from, first + 1, end); });
    return here + later;
  }

  teff::runtime runtime_;
};

}  // namespace
