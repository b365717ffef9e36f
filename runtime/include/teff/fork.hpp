// fork(f): a task whose value is asked for later.
#pragma once

#include <teff/detail/fork_join/forked_task.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace teff {

// The handle of a task that fork() has made: get() returns the task's value, once. On a worker, the task lies
// in the worker's deque and the handle in the caller's frame: nothing is allocated.
//
// Forks form a stack, as automatic variables do. Call get() on the handles, or let them end, in reverse order
// of their making, on the worker that made them. Do so only after each scope or join has ended that was made
// later. So handles can't be moved into a vector: take a scope (scope.hpp), or the futures of submit()
// (runtime.hpp), which can be stored and come in any order:
//
//   std::vector<teff::future<long>> sums;
//   for (auto& part : parts) sums.push_back(rt.submit([&part] { return sum(part); }));
//   for (auto& each : sums) total += each.get();
template <class F>
class [[nodiscard]] forked {
  using task = detail::forked_task<F>;
  using value = detail::value_t<F>;

 public:
  forked(const forked&) = delete;  // stays in its frame: a vector holds futures of submit() instead
  forked& operator=(const forked&) = delete;
  static void* operator new(std::size_t) = delete;  // its place is in a frame

  // If get() was not called, runs the task or waits for it, and throws what it throws. But if an exception is
  // leaving the block, a task that has not begun is dropped, and the exception of a task that has begun is
  // lost.
  ~forked() noexcept(false) {
    if (slot_ != nullptr) [[unlikely]]
      end(slot_, task_);
  }

  // Returns what the task returns, or throws what it throws. Runs the task, unless another worker has begun
  // it; then runs other tasks until it has ended. Throws misuse if the calling worker has made a newer fork
  // and not called its get() yet.
  std::invoke_result_t<F&&> get() {
    auto* const slot = slot_;
    if (!detail::self.is_newest(slot)) [[unlikely]] {
      detail::expect_outside(slot);
      slot_ = nullptr;
      return static_cast<std::invoke_result_t<F&&>>(get_outside(slot, task_));
    }
    slot_ = nullptr;
    if (detail::ring_here() != nullptr) [[unlikely]]
      return static_cast<std::invoke_result_t<F&&>>(get_traced(slot, task_));
    return static_cast<std::invoke_result_t<F&&>>(detail::take_or_wait<false>(task_, slot));
  }

 private:
  template <class G>
  friend forked<std::decay_t<G>> fork(G&& task);

  // The rare cases receive the members that they need, not `this`: a handle whose address is passed on must
  // lie in memory.
  using passed_task = std::conditional_t<std::is_empty_v<task>, task, task&>;

  forked(detail::task_slot* slot, F& closure) : slot_(slot), task_(*slot, closure) {}
  // A reference, as in take_outside().
  forked(detail::fork_outside made, F& closure) : forked(&static_cast<detail::task_slot&>(*made), closure) {
    if (made->has_runtime()) made->submit();
    made.release();
  }
  forked(detail::task_slot* slot, F& closure, unsigned exceptions) : forked(slot, closure) {
    slot->exceptions = exceptions;
    detail::self.push(slot);
    if (detail::self.asked()) [[unlikely]]
      detail::share();
  }

  [[gnu::cold, gnu::noinline]] static value get_outside(detail::task_slot* slot, passed_task task) {
    return detail::take_outside(task, slot);
  }

  [[gnu::cold, gnu::noinline]] static value get_traced(detail::task_slot* slot, passed_task task) {
    return detail::take_or_wait<true>(task, slot);
  }

  [[gnu::cold, gnu::noinline]] static void end(detail::task_slot* slot, passed_task task) {
    // More exceptions are in flight than when the fork was made: one of them is leaving the block.
    const bool unwinding = detail::exceptions_in_flight() > (slot->exceptions & ~detail::made_outside);
    if (detail::self.is_newest(slot)) {
      if (unwinding) return detail::abandon(task, slot);
      detail::take_or_wait<true>(task, slot);
    } else {
      detail::expect_outside(slot);
      if (unwinding) return detail::abandon_outside(task, slot);
      detail::take_outside(task, slot);
    }
  }

  detail::task_slot* slot_;  // null after get()
  [[no_unique_address]] task task_;
};

// Makes f() a task that any worker may run, and returns at once; get() returns its value or throws its
// exception. On a thread that is no worker, a worker of default_runtime() runs the task, or get() runs it as
// run() does. Each such fork allocates and takes some microseconds: for many of them, begin with run()
// (runtime.hpp).
//
//   auto left = teff::fork([&] { return sum(tree.left); });
//   const long here = tree.value + sum(tree.right);
//   return here + left.get();
//
// Throws what moving or copying f throws; outside the workers also std::bad_alloc, and what default_runtime()
// throws.
template <class F>
forked<std::decay_t<F>> fork(F&& f) {
  std::decay_t<F> closure(std::forward<F>(f));
  auto* const slot = detail::self.head();
  if (slot == nullptr) [[unlikely]]
    return forked<std::decay_t<F>>(detail::new_fork_outside(), closure);
  return forked<std::decay_t<F>>(slot, closure, *detail::self.exceptions);
}

}  // namespace teff
