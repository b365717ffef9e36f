// Tasks of libdispatch: dispatch_apply where a task waits for others, since its caller runs some of them
// itself, while the wait for a group only blocks a thread.
#pragma once

#include <bit>
#include <utility>
#include <vector>

#include "handle.hpp"
#include "teff/bench/workers.hpp"
#include "teff/spawn/null_task.hpp"
#include "teff/spawn/task_system.hpp"
#include "teff/spawn/tree.hpp"
#include "threads.hpp"

namespace {

class task_system {
 public:
  explicit task_system(int workers) {
    dispatch::take_cores(workers);
    const int cores = teff::bench::usable_cores();
    seen_ = teff::bench::count_workers(
        cores, [cores](auto answer) { spawn_each(cores, [&answer](std::int64_t) { answer(); }); });
  }

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "libdispatch",
            .variant = "apply",
            .version = "API " + std::to_string(DISPATCH_API_VERSION),
            .workers = seen_,
            .limits = "the cores that it may use"};
  }

  template <class Body>
  static void run(Body body) {
    body();
  }

  static void serial_spawn(std::int64_t tasks) {
    const dispatch::handle<dispatch_group_t> all(dispatch_group_create());
    for (std::int64_t i = 0; i < tasks; ++i)
      dispatch_group_async_f(all.get(), dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0),
                             std::bit_cast<void*>(i),
                             [](void* index) { teff::spawn::null_task(std::bit_cast<std::int64_t>(index)); });
    dispatch_group_wait(all.get(), DISPATCH_TIME_FOREVER);
  }

  template <class Function>
  static void spawn_each(std::int64_t count, Function function) {
    dispatch_apply_f(static_cast<std::size_t>(count), DISPATCH_APPLY_AUTO, &function,
                     [](void* each, std::size_t index) {
                       (*static_cast<Function*>(each))(static_cast<std::int64_t>(index));
                     });
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    std::pair<decltype(first()), decltype(second())> both;
    spawn_each(2, [&](std::int64_t index) {
      if (index == 0) {
        both.first = first();
      } else {
        both.second = second();
      }
    });
    return both;
  }

  static teff::spawn::tree_counts search_tree(const teff::spawn::tree& of, const teff::spawn::node& from) {
    const std::int32_t children = of.children(from);
    if (children == 0) return {1, 1, from.depth};
    std::vector<teff::spawn::tree_counts> below(static_cast<std::size_t>(children));
    spawn_each(children, [&](std::int64_t i) {
      below[static_cast<std::size_t>(i)] =
          search_tree(of, teff::spawn::tree::child(from, static_cast<std::int32_t>(i)));
    });
    teff::spawn::tree_counts seen{1, 0, from.depth};
    for (const teff::spawn::tree_counts& each : below) seen += each;
    return seen;
  }

 private:
  int seen_ = 0;  ///< threads at once
};

}  // namespace
