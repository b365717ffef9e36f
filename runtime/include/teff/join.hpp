// join(f, g): two closures that may run in parallel.
#pragma once

#include <teff/detail/join_task.hpp>

#include <utility>

namespace teff {

// What join(f, g) returns: both values; std::monostate for a closure without one; void if neither has one.
template <class F, class G>
using join_result = std::conditional_t<detail::yields_void<F> && detail::yields_void<G>, void,
                                       std::pair<detail::value_t<F>, detail::value_t<G>>>;

namespace detail {

// f threw: g is dropped, or if a thief has it, waited for.
template <class Task>
[[gnu::cold, gnu::noinline]] void abandon(Task& task, task_slot* slot) noexcept {
  if (self.take(slot) || settle(slot)) return task.drop(*slot);
  try {
    task.stolen_result(*slot);
  } catch (...) {  // f's exception came first
  }
}

// The rest of join() where it is traced: a separate copy, so that the untraced one is not longer by an
// instruction. By value, as below.
template <class F, class G>
[[gnu::cold, gnu::noinline]] join_result<F, G> join_traced(F f, join_task<G>& task, task_slot* slot) {
  const auto first = [&]() -> value_t<F> {
    try {
      return value_of<F>(f);
    } catch (...) {
      abandon(task, slot);
      throw;
    }
  };
  const auto second = [&]() -> value_t<G> {
    if (!self.take(slot) && !settle(slot)) return task.stolen_result(*slot);
    const traced_span span(activity::task, name_of<std::remove_cvref_t<G>>());
    return task.run(*slot);
  };
  if constexpr (std::is_void_v<join_result<F, G>>) {
    first();
    second();
  } else {
    return {first(), second()};
  }
}

// Outside a runtime's workers. By value, so that join itself need not keep the closures in memory.
template <class F, class G>
[[gnu::cold, gnu::noinline]] join_result<F, G> join_in_order(F f, G g) {
  if constexpr (std::is_void_v<join_result<F, G>>) {
    value_of<F>(f);
    value_of<G>(g);
  } else {
    return {value_of<F>(f), value_of<G>(g)};
  }
}

}  // namespace detail

// Runs f on the calling worker, and g on a worker that is free, or on the calling one after f.
//
// Returns {f(), g()} as join_result. Both have ended when it returns or throws; while g runs elsewhere the
// caller runs other tasks. If f throws, its exception is thrown, and g is dropped unless it has begun. If
// only g throws, its exception is thrown. Outside a runtime's workers, f and g run in order on the calling
// thread.
//
//   auto [a, b] = teff::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
template <class F, class G>
join_result<F, G> join(F&& f, G&& g) {
  auto* const slot = detail::self.head();
  if (slot == nullptr) [[unlikely]] {
    return detail::join_in_order<F, G>(std::forward<F>(f), std::forward<G>(g));
  }
  detail::join_task<G> task(*slot, g);
  detail::self.push(slot);
  if (detail::self.asked()) [[unlikely]] {
    if (detail::share()) return detail::join_traced<F, G>(std::forward<F>(f), task, slot);
  }

  const auto first = [&]() -> detail::value_t<F> {
    try {
      return detail::value_of<F>(f);
    } catch (...) {
      detail::abandon(task, slot);
      throw;
    }
  };
  const auto second = [&]() -> detail::value_t<G> {
    if (!detail::self.take(slot)) [[unlikely]] {
      if (!detail::settle(slot)) return task.stolen_result(*slot);
    }
    return task.run(*slot);
  };
  if constexpr (std::is_void_v<join_result<F, G>>) {
    first();
    second();
  } else {
    return {first(), second()};
  }
}

}  // namespace teff
