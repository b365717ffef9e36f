// join(f, g...): closures that may run in parallel.
#pragma once

#include <teff/detail/fork_join/join.hpp>

#include <utility>

namespace teff {

// What a join of closures returns: a pair of both values, or a tuple of three and more; std::monostate for a
// closure without one; void if none has one.
template <class... F>
using join_result = detail::joined_t<F...>;

// Runs f on the calling worker, and the others on workers that are free, or on the calling one after f.
//
// Returns {f(), g()...} as join_result. All have ended when it returns or throws; while one runs elsewhere
// the caller runs other tasks. The exception of the first closure that throws is thrown, first in the order
// of the arguments; those after it that have not begun are dropped. Outside a runtime's workers, the closures
// run in order on the calling thread, as they do on the only worker of a runtime.
//
//   auto [a, b] = teff::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
template <class F, class... G>
  requires(sizeof...(G) > 0)
join_result<F, G...> join(F&& f, G&&... g) {
  auto* const oldest = detail::self.head();
  if (oldest == nullptr) [[unlikely]] {
    return detail::join_in_order<F, G...>(std::forward<F>(f), std::forward<G>(g)...);
  }
  detail::task_row<G...> others(oldest, g...);
  if (others.push(oldest)) [[unlikely]] {
    return detail::join_traced<F, G...>(std::forward<F>(f), others, oldest);
  }
  return detail::finish_join<false, F, G...>(f, others, oldest);
}

// As join, but the first closure is a task too, and can be stolen as the others can.
//
//   auto [a, b] = teff::join_tasks([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
template <class... G>
  requires(sizeof...(G) > 1)
join_result<G...> join_tasks(G&&... g) {
  auto* const oldest = detail::self.head();
  if (oldest == nullptr) [[unlikely]] {
    return detail::join_in_order<G...>(std::forward<G>(g)...);
  }
  detail::task_row<G...> all(oldest, g...);
  if (all.push(oldest)) [[unlikely]] {
    return detail::join_tasks_traced<G...>(all, oldest);
  }
  return detail::finish_tasks<false, G...>(all, oldest);
}

}  // namespace teff
