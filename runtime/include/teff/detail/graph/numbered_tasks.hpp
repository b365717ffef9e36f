// A parallel_graph in progress: how workers run its tasks (src/graph/README.md, "Graphs that are known
// beforehand").
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/graph/missing_predecessors.hpp>
#include <teff/detail/loops/pace.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/scope.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace teff::detail {

// Each worker that takes part runs a batch: tasks that are ready, the newest first, and all that they make
// ready. A batch gives work away as a task of the scope.
//
// `Release`: the argument of a body, made of the counters and the batch. It keeps the newest task that the
// body has made ready out of the batch, in registers as a rule: that one runs next.
template <std::integral Task, class Release, class Body>
class numbered_tasks {
  using batch = std::vector<Task>;

 public:
  numbered_tasks(missing_predecessors<Task>& missing, Body& body)
      : missing_(missing), body_(body), pace_(pace_of<Body>(static_cast<std::uint64_t>(missing.count()))) {}

  // Returns when no task is left that can run, how many have; throws the first exception of one.
  std::size_t run(batch roots) {
    run_batch(missing_.none(), std::move(roots));
    all_.wait();
    return ran_.load(std::memory_order_relaxed);  // each batch ended before the scope did
  }

 private:
  // `task`, or none, is the newest of the batch.
  void run_batch(Task task, batch ready) {
    undo_if_thrown([&] { run_tasks(task, ready); }, [this] { all_.cancel(); });
  }

  void run_tasks(Task task, batch& ready) {
    const auto* const base = self.head();
    loop_pace<> pace(pace_);
    std::int64_t ran = 0;
    if (task == missing_.none()) task = taken_from(ready);
    give_if_wanted(ready, pace, base);
    auto block = pace.block();
    while (task != missing_.none()) {
      traced_body<Body&> traced{body_};
      const auto after = ring_here() == nullptr ? run_block(body_, task, block, ready)
                                                : run_block(traced, task, block, ready);
      ran += block - after.left;
      if (all_.cancelled()) [[unlikely]]
        return;
      task = after.next;
      if (after.left != 0) break;
      pace.look(block);
      give_if_wanted(ready, pace, base);
      block = pace.block();
    }
    pace.tell_at_end(pace_, block);
    ran_.fetch_add(static_cast<std::size_t>(ran), std::memory_order_relaxed);
  }

  struct block_end {
    Task next;          // none: nothing is ready
    std::int64_t left;  // that have not run
  };
  // Runs the task and what is ready after it, `left` tasks at most. Not inline: then what this loop needs is
  // in registers; on the stack, its counters would be stored and loaded at each task.
  template <class Called>
  [[gnu::noinline]] block_end run_block(Called& called, Task task, std::int64_t left, batch& ready) {
    const auto releases = missing_.releases();
    do {
      const Release release(releases, ready);
      std::invoke(called, task, release);
      task = release.newest();
      --left;
      if (all_.cancelled()) [[unlikely]]
        break;
      if (task == releases.none()) task = taken_from(ready);
    } while (left != 0 && task != releases.none());
    return {task, left};
  }

  Task taken_from(batch& ready) const noexcept {
    if (ready.empty()) return missing_.none();
    const Task newest = ready.back();
    ready.pop_back();
    return newest;
  }

  // Beside `ready` the worker has a task in its hands. Long tasks are given away before anybody asks: a
  // worker that comes while one runs would have to wait for its end. `base`: where the worker's deque ended
  // when the batch began.
  void give_if_wanted(batch& ready, const loop_pace<>& pace, const task_slot* base) {
    constexpr std::ptrdiff_t most_on_offer = 64;
    if (base == nullptr) return;  // nobody steals from this thread
    if (pace.is_long()) {
      const auto room = most_on_offer - (self.head() - base);
      if (!ready.empty() && room > 0) give_singly(ready, static_cast<std::size_t>(room));
    }
    if (!self.asked() || !self.asked_to_share()) return;
    // Few tasks may be ready, but many may follow from them: no more than there are tasks in the graph.
    const auto all = static_cast<std::uint64_t>(missing_.count());
    if (!ready.empty() && pace.pays(all) && (pace.pays_a_wake(ready.size() + 1) || shares_without_wake())) {
      give_half(ready);
    } else {
      calling_worker::answer_request();
    }
  }

  [[gnu::noinline]] void give_singly(batch& ready, std::size_t most) {
    const auto given = std::min(most, ready.size());
    missing_.share();
    for (std::size_t i = 0; i < given; ++i) {
      all_.spawn(as_part_of<Body>([this, task = ready[i]] { run_batch(task, {}); }));
    }
    ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(given));
  }

  // The oldest, from which most is likely to follow.
  [[gnu::cold, gnu::noinline]] void give_half(batch& ready) {
    const auto middle = ready.begin() + static_cast<std::ptrdiff_t>((ready.size() + 1) / 2);
    missing_.share();
    batch given(ready.begin(), middle);
    ready.erase(ready.begin(), middle);
    all_.spawn(as_part_of<Body>(
        [this, some = std::move(given)]() mutable { run_batch(missing_.none(), std::move(some)); }));
  }

  missing_predecessors<Task>& missing_;
  Body& body_;
  remembered_pace& pace_;
  std::atomic<std::size_t> ran_{0};  // relaxed: read when all batches have ended
  scope all_;
};

}  // namespace teff::detail
