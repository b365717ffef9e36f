// Tasks by citor's forkJoin. It pushes all children but the last, which it calls: so it has no
// fork of two tasks, and a serial spawn is a forkJoin of them all. How many children a node has is known only
// at run time, which is what forkJoinAll is for.
#pragma once

#include <utility>

#include "pool.hpp"
#include "teff/spawn/spawn_patterns.hpp"

namespace {

using namespace teff::spawn;
using hints = citor::CcdLocalForkJoinHints;

class task_system {
 public:
  explicit task_system(int workers) : pool_(workers) { here = &pool_.get(); }

  [[nodiscard]] teff::bench::identity describe() const { return pool_.describe("fork_join"); }

  /// Its patterns start in the thread that made the pool, which is a worker while they run.
  template <class Body>
  static void run(Body body) {
    body();
  }

  static void serial_spawn(std::int64_t tasks) {
    here->forkJoinAll<hints>(static_cast<std::size_t>(tasks),
                             [](std::size_t i) { null_task(static_cast<std::int64_t>(i)); });
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    std::pair<decltype(first()), decltype(second())> both;
    here->forkJoin<hints>([&] { both.first = first(); }, [&] { both.second = second(); });
    return both;
  }

  template <class First, class Second>
  static void fork2_void(First first, Second second) {
    here->forkJoin<hints>(first, second);
  }

  static tree_counts search_tree(const tree& of, const node& from) {
    const std::int32_t children = of.children(from);
    if (children == 0) return {1, 1, from.depth};
    found_below below(children);
    tree_counts* const found = below.data();
    here->forkJoinAll<hints>(static_cast<std::size_t>(children), [&of, &from, found](std::size_t i) {
      found[i] = search_tree(of, tree::child(from, static_cast<std::int32_t>(i)));
    });
    tree_counts seen{1, 0, from.depth};
    for (std::int32_t i = 0; i < children; ++i) seen += found[i];
    return seen;
  }

 private:
  static inline citor::ThreadPool* here = nullptr;  ///< where the patterns run: this program has one
  pool pool_;
};

}  // namespace
