// The rest of a join when its tasks are pushed; and a join outside the workers.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/fork_join/task_row.hpp>
#include <teff/detail/scheduler/on_workers.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace teff::detail {

// What a join of closures returns.
template <class... F>
using joined_t = typename joined<all_yield_void<F...>, F...>::type;

template <class... F>
joined_t<F...> join_in_order(std::remove_reference_t<F>&... f) {
  if constexpr (std::is_void_v<joined_t<F...>>) {
    (value_of<F>(f), ...);
  } else {
    return {value_of<F>(f)...};
  }
}

// The rest of join() when the tasks are pushed. (The row is no place to deduce closures from: Clang 14
// can't.)
template <bool Traced, class F, class... G>
joined_t<F, G...> finish_join(std::remove_reference_t<F>& f, std::type_identity_t<task_row<G...>>& others,
                              task_slot* oldest) {
  const auto first = [&]() -> value_t<F> {
    return undo_if_thrown([&]() -> decltype(auto) { return value_of<F>(f); },
                          [&] { others.template abandon_from<0>(oldest); });
  };
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) -> joined_t<F, G...> {
    if constexpr (std::is_void_v<joined_t<F, G...>>) {
      first();
      (others.template get<Index, Traced>(oldest), ...);
    } else {
      return {first(), others.template get<Index, Traced>(oldest)...};
    }
  }(std::index_sequence_for<G...>{});
}

// A closure is passed by value, so that join itself need not keep it in memory. One whose move may throw is
// passed by reference: from the push to the end of the join only closures may throw.
template <class F>
using passed = std::conditional_t<std::is_nothrow_constructible_v<F, F>, F, F&&>;

// Not gnu::cold, as neither are others that users' closures are compiled into: those would be made small, and
// not fast.
template <class F, class... G>
[[gnu::noinline]] joined_t<F, G...> join_traced(passed<F> f, std::type_identity_t<task_row<G...>>& others,
                                                task_slot* oldest) {
  return finish_join<true, F, G...>(f, others, oldest);
}

// join() outside a runtime's workers. By value, so that join itself need not keep the closures in memory. It
// calls the functions for traces: join itself then calls the others from one place only, so that compilers
// inline them.
template <class F, class... G>
[[gnu::noinline]] joined_t<F, G...> join_outside(F f, G... g) {
  return on_workers([&]() -> joined_t<F, G...> {
    auto* const oldest = self.head();
    if (oldest == nullptr) return join_in_order<F, G...>(f, g...);
    task_row<G...> others(oldest, g...);
    static_cast<void>(others.push(oldest));
    return join_traced<F, G...>(std::forward<F>(f), others, oldest);
  });
}

}  // namespace teff::detail
