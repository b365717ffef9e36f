// The floor of all tasks: a task is a call, on one core for any number of workers. The compiler has to make
// each: in line, most of Fibonacci's calls would be gone.
#pragma once

#include <string>
#include <utility>

#include "teff/spawn/spawn_patterns.hpp"

namespace {

using namespace teff::spawn;

template <class Function>
[[gnu::noinline]] auto called(Function function) {
  asm volatile("");  // or two calls with the same argument would be one
  return function();
}

class task_system {
 public:
  explicit task_system(int) { teff::bench::bind_to_core(0); }

  [[nodiscard]] static teff::bench::identity describe() {
    return {
        .system = "serial", .variant = "calls", .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE)};
  }

  template <class Body>
  static void run(Body body) {
    body();
  }

  struct tasks {
    template <class Function>
    void spawn(Function function) const {
      called(function);
    }
  };

  template <class Body>
  static void scope(Body body) {
    const tasks all;
    body(all);
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    auto a = called(first);
    return std::pair(a, called(second));
  }

  [[gnu::noinline]] static tree_counts search_tree(const tree& of, const node& from) {
    const std::int32_t children = of.children(from);
    if (children == 0) return {1, 1, from.depth};
    tree_counts seen{1, 0, from.depth};
    for (std::int32_t i = 0; i < children; ++i) seen += search_tree(of, tree::child(from, i));
    return seen;
  }

  template <class Function>
  static void spawn_each(std::int64_t count, Function function) {
    for (std::int64_t i = 0; i < count; ++i) called([=] { function(i); });
  }
};

}  // namespace
