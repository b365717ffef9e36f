// join(f, g...), parallel_invoke(f, g...): closures that may run in parallel.
#pragma once

#include <teff/detail/fork_join/join.hpp>
#include <teff/detail/scheduler/on_workers.hpp>

#include <functional>
#include <utility>

namespace teff {

// The result of a join of closures: a pair of two values, or a tuple of three and more. A closure that
// returns void yields std::monostate; if all return void, so does the join.
template <class... F>
using join_result = detail::joined_t<F...>;

// Runs f on the calling worker, and the others on workers that are free, or on the calling one after f. Where
// f is to be a task as well, an empty closure comes first: join([] {}, f, g).
//
// Returns {f(), g()...} as join_result. All closures have ended when it returns or throws. While one runs on
// another worker, the caller runs other tasks. If closures throw, join throws the exception of the first of
// them in the order of the arguments, and drops those after it that have not begun. If moving a
// result throws, so does join. On a thread that is no worker, the join runs within default_runtime()
// (runtime.hpp), which takes some tenths of a microsecond.
//
//   auto [a, b] = teff::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
template <class F, class... G>
  requires(sizeof...(G) > 0)
join_result<F, G...> join(F&& f, G&&... g) {
  auto* const oldest = detail::self.head();
  if (oldest == nullptr) [[unlikely]] {
    return detail::join_outside<F, G...>(std::forward<F>(f), std::forward<G>(g)...);
  }
  detail::task_row<G...> others(oldest, g...);
  if (others.push(oldest)) [[unlikely]] {
    return detail::join_traced<F, G...>(std::forward<F>(f), others, oldest);
  }
  return detail::finish_join<false, F, G...>(f, others, oldest);
}

// Calls all closures, and returns when all have ended. Their values are dropped. Workers and exceptions are
// as in join.
//
//   teff::parallel_invoke([&] { load(a); }, [&] { load(b); }, [&] { load(c); });
template <class... F>
  requires(sizeof...(F) > 0)
void parallel_invoke(F&&... f) {
  if constexpr (sizeof...(F) == 1) {
    (std::invoke(std::forward<F>(f)), ...);
  } else {
    detail::on_workers([&] { join([&f] { static_cast<void>(std::invoke(std::forward<F>(f))); }...); });
  }
}

}  // namespace teff
