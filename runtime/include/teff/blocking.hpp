// blocking(f): a call that blocks its thread, without keeping a worker from working.
#pragma once

#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/scheduler/run_call.hpp>

#include <type_traits>
#include <utility>

namespace teff {

// Calls f(), which may sleep, read from a socket or wait for another process; returns its value or throws its
// exception.
//
//   const auto size = teff::blocking([&] { return ::read(socket, buffer, sizeof buffer); });
//
// - On a worker: f is called on a spare thread of the runtime (runtime_options::spare_threads), and the
// worker runs
//   other work until f has ended. So f sees that thread's thread-locals, and joins, scopes and loops in it
//   run in order. If there are as many spare threads as may be and all are busy, the worker calls f itself.
// - Elsewhere: calls f.
// - The tasks that the worker runs meanwhile lie on top of the call: the call returns when they have ended,
//   too. If it calls blocking() or waits for something, the waits on one worker end in reverse order of their
//   beginning. So two tasks of a scope that use the two ends of a pipe may wait for ever: submit() each of
//   the two.
// - While every worker of the runtime is within such a call, or waits within a request, a further request or
//   call of run() runs on a spare thread, in order. Its scopes and joins run one task after the other. So two
//   of its tasks that wait for each other never meet, though they do so within blocking(). More workers
//   (runtime_options::workers), or a request for each of the two, let them.
// - A worker runs its part of a loop in order. While it blocks in an iteration, it does not begin the next
//   one. Spawn or submit work that is to block side by side.
template <class F>
std::invoke_result_t<F&&> blocking(F&& f) {
  if (detail::this_worker().runtime != nullptr) {
    detail::call<F> call(f);
    if (detail::run_aside(call)) return static_cast<std::invoke_result_t<F&&>>(call.take());
  }
  const detail::thread_blocks blocks;
  return std::forward<F>(f)();
}

}  // namespace teff
