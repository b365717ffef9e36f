// isolate(f): a call whose waits run no other tasks than its own.
#pragma once

#include <teff/detail/scheduler/frame.hpp>
#include <teff/detail/scheduler/on_workers.hpp>

#include <type_traits>
#include <utility>

namespace teff {

// Calls f() on the calling worker; returns its value or throws its exception. In f the worker may wait for a
// loop, a join, a fork or a scope. Meanwhile it runs only tasks that f or a task of f has made. So f may wait
// while it holds a lock, or uses a thread-local that its own tasks do not touch.
//
//   teff::parallel_for(0, n, [&](int i) {
//     const std::lock_guard lock(m);
//     teff::isolate([&] { teff::parallel_for(0, k, [&](int j) { add(i, j); }); });
//   });
//
// - Any free worker runs the tasks of f, and waits in the same way. When all of these tasks have begun, the
//   calling worker sleeps until they have ended.
// - In f, wait only for tasks that f makes. In a wait for a graph, a flow, a future or messages, the worker
//   runs other tasks, too. A task of f may not wait for work that only the calling worker does: a task of a
//   graph at its place, a part of a replay. Such a wait never ends.
// - On a thread that is no worker, f runs within default_runtime() (runtime.hpp).
template <class F>
std::invoke_result_t<F&&> isolate(F&& f) {
  return detail::on_workers([&]() -> std::invoke_result_t<F&&> {
    const detail::isolated alone;
    return std::forward<F>(f)();
  });
}

}  // namespace teff
