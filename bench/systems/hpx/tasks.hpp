// Tasks as HPX's lightweight threads: a future if a task waits for one that it spawned, a task_group for
// many, or a for_loop whose iterations are separate threads.
#pragma once

#include <cstdint>
#include <hpx/algorithm.hpp>
#include <hpx/execution.hpp>
#include <hpx/experimental/task_group.hpp>
#include <hpx/future.hpp>
#include <hpx/runtime.hpp>
#include <utility>
#include <vector>

#include "teff/spawn/null_task.hpp"
#include "teff/spawn/task_system.hpp"
#include "threads.hpp"

namespace {

using hpx::execution::experimental::with_hint;

/// A task of the calling worker, which runs on the stack of the thread that waits for it if no worker has
/// begun it. By default HPX deals tasks out to the workers and gives each a stack, which takes much longer
/// here. launch::fork does, too: the queues are first in, first out, so forks search a tree breadth first.
hpx::launch::async_policy own() {
  return with_hint(hpx::launch::async,
                   hpx::threads::thread_schedule_hint(static_cast<std::int16_t>(hpx::get_worker_thread_num()),
                                                      hpx::threads::thread_placement_hint::none,
                                                      hpx::threads::thread_execution_hint::run_as_child));
}

class task_system : public threads {
 public:
  using threads::threads;

  [[nodiscard]] teff::bench::identity describe() const { return threads::describe("async"); }

  class tasks {
   public:
    template <class Function>
    void spawn(Function function) {
      running_.push_back(hpx::async(own(), function));
    }
    /// The last first: a thief takes the oldest.
    void wait() {
      for (; !running_.empty(); running_.pop_back()) running_.back().get();
    }

   private:
    std::vector<hpx::future<void>> running_;
  };

  template <class Body>
  static void scope(Body body) {
    tasks all;
    body(all);
    all.wait();
  }

  template <class First, class Second>
  static auto fork2(First first, Second second) {
    hpx::future<decltype(first())> a = hpx::async(own(), first);
    auto b = second();
    return std::pair(a.get(), b);
  }

  template <class First, class Second>
  static auto fork_both(First first, Second second) {
    hpx::future<decltype(first())> a = hpx::async(own(), first);
    hpx::future<decltype(second())> b = hpx::async(own(), second);
    auto last = b.get();
    return std::pair(a.get(), last);
  }

  /// Without a future for each task: no code waits for a single one.
  static void serial_spawn(std::int64_t count) {
    hpx::experimental::task_group all;
    for (std::int64_t i = 0; i < count; ++i) all.run([i] { teff::spawn::null_task(i); });
    all.wait();
  }

  /// By default a for_loop is a task a worker, which counts through its chunks.
  template <class Function>
  static void spawn_each(std::int64_t count, Function function) {
    hpx::threads::thread_schedule_hint a_task_each;
    a_task_each.sharing_mode(hpx::threads::thread_sharing_hint::do_not_combine_tasks);
    const hpx::execution::parallel_executor threads(with_hint(hpx::launch::async, a_task_each));
    const auto policy =
        hpx::execution::par.on(threads).with(hpx::execution::experimental::static_chunk_size(1));
    hpx::experimental::for_loop(policy, std::int64_t{0}, count, function);
  }
};

}  // namespace
