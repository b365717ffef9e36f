// A parallel_graph in progress: how workers run its tasks (src/graph/README.md, "Graphs that are known
// beforehand").
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/missing_predecessors.hpp>
#include <teff/detail/loops/pace.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/scope.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace teff::detail {

// Each worker that takes part runs a batch: tasks that are ready, the newest first, and all that they make
// ready. What a batch gives away is a task of the scope.
//
// `Release`: what a body is called with, made of the counters and the batch. It keeps the newest task that
// the body has made ready out of the batch, in registers as a rule: that one runs next.
template <std::integral Task, class Release, class Body>
class numbered_tasks {
  using batch = std::vector<Task>;

 public:
  numbered_tasks(missing_predecessors<Task>& missing, Body& body) : missing_(missing), body_(body) {}

  // Returns when no task is left that can run, how many have; throws the first exception of one.
  std::size_t run(batch roots) {
    run_batch(std::move(roots));
    all_.wait();
    return ran_.load(std::memory_order_relaxed);  // each batch ended before the scope did
  }

 private:
  void run_batch(batch ready) {
    undo_if_thrown([&] { run_tasks(ready); }, [this] { all_.cancel(); });
  }

  void run_tasks(batch& ready) {
    const auto* const base = self.head();
    loop_pace<> pace(pace_of<Body>);
    std::size_t ran = 0;
    Task task = taken_from(ready);
    give_if_wanted(ready, pace, base);
    auto block = pace.block();
    for (auto left = block; task != missing_.none();) {
      task = run_and_next(task, ready);
      ++ran;
      if (all_.cancelled()) [[unlikely]]
        return;
      if (task == missing_.none()) task = taken_from(ready);
      if (--left != 0) continue;
      pace.look(block);
      give_if_wanted(ready, pace, base);
      left = block = pace.block();
    }
    pace.tell_at_end(pace_of<Body>, block);
    ran_.fetch_add(ran, std::memory_order_relaxed);
  }

  Task taken_from(batch& ready) const noexcept {
    if (ready.empty()) return missing_.none();
    const Task newest = ready.back();
    ready.pop_back();
    return newest;
  }

  // Runs the task; returns the newest that it has made ready.
  Task run_and_next(Task task, batch& ready) {
    if (ring_here() != nullptr) [[unlikely]]
      return run_traced(task, ready);
    const Release release(missing_, ready);
    std::invoke(body_, task, release);
    return release.newest();
  }
  [[gnu::cold, gnu::noinline]] Task run_traced(Task task, batch& ready) {
    record_spawn(*ring_here());
    const traced_span span(event_kind::task, name_of<std::remove_const_t<Body>>());
    const Release release(missing_, ready);
    std::invoke(body_, task, release);
    return release.newest();
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
    if (!ready.empty() && (pace.pays_a_wake(ready.size() + 1) || shares_without_wake())) {
      give_half(ready);
    } else {
      calling_worker::answer_request();
    }
  }

  [[gnu::noinline]] void give_singly(batch& ready, std::size_t most) {
    const auto given = std::min(most, ready.size());
    missing_.share();
    for (std::size_t i = 0; i < given; ++i) {
      all_.spawn(as_part_of<Body>([this, task = ready[i]] { run_batch(batch{task}); }));
    }
    ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(given));
  }

  // The oldest, from which most is likely to follow.
  [[gnu::cold, gnu::noinline]] void give_half(batch& ready) {
    const auto middle = ready.begin() + static_cast<std::ptrdiff_t>((ready.size() + 1) / 2);
    missing_.share();
    batch given(ready.begin(), middle);
    ready.erase(ready.begin(), middle);
    all_.spawn(as_part_of<Body>([this, some = std::move(given)]() mutable { run_batch(std::move(some)); }));
  }

  missing_predecessors<Task>& missing_;
  Body& body_;
  std::atomic<std::size_t> ran_{0};  // relaxed: read when all batches have ended
  scope all_;
};

}  // namespace teff::detail
