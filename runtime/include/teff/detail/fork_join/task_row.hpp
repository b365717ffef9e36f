// Tasks that one join pushes at once: how they lie in the deque, and how they end.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/fork_join/join_task.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teff::detail {

// The value of a join: as a pair or a tuple; void if no closure has one.
template <bool NoneHasValue, class... F>
struct joined {
  using type = std::tuple<value_t<F>...>;
};
template <class F, class G>
struct joined<false, F, G> {
  using type = std::pair<value_t<F>, value_t<G>>;
};
template <class... F>
struct joined<true, F...> {
  using type = void;
};

// The newest slot: runs its task, or if it was stolen, waits for its thief. `Traced` makes a
// second copy, so that the copy without traces is not longer by an instruction.
template <bool Traced, class Task>
typename Task::result take_or_wait(Task& task, task_slot* slot) {
  if (!self.take(slot)) [[unlikely]] {
    if (!settle(slot)) return task.stolen_result(*slot);
  }
  if constexpr (Traced) {
    const traced_span span(event_kind::task, task.name(*slot));
    return task.run(*slot);
  } else {
    return task.run(*slot);
  }
}

// The newest slot: drops its task, or if a thief has it, waits for its end.
template <class Task>
[[gnu::cold, gnu::noinline]] void abandon(Task& task, task_slot* slot) noexcept {
  if (self.take(slot) || settle(slot)) return task.drop(*slot);
  catch_all([&] { task.stolen_result(*slot); }, [] {});  // another exception came first
}

template <std::size_t Index, class G>
struct row_task : join_task<G> {
  using join_task<G>::join_task;
};

template <class Indices, class... G>
struct indexed_task_row;

// The first task is the newest, so that on one worker they run in their order. Which slot is the oldest's is
// the caller's to remember: a row whose closures lie in their slots is empty.
template <std::size_t... Index, class... G>
struct indexed_task_row<std::index_sequence<Index...>, G...> : row_task<Index, G>... {
  static constexpr std::size_t count = sizeof...(G);

  explicit indexed_task_row(task_slot* oldest, std::remove_reference_t<G>&... g) noexcept
      : row_task<Index, G>(oldest[count - 1 - Index], g)... {}

  // Returns whether they are to be traced.
  [[nodiscard]] static bool push(task_slot* oldest) noexcept {
    self.push(oldest + count - 1);
    if (!self.asked()) [[likely]]
      return false;
    if (!share()) return false;
    for (std::size_t i = 1; i < count; ++i) record_spawn(*ring_here());  // share() has recorded one
    return true;
  }

  // The value of task `At`, when those before it have ended. If it throws, those after it are dropped.
  template <std::size_t At, bool Traced>
  decltype(auto) get(task_slot* oldest) {
    using chosen = std::tuple_element_t<At, std::tuple<G...>>;
    auto& task = static_cast<row_task<At, chosen>&>(*this);
    auto* const slot = oldest + (count - 1 - At);
    if constexpr (At + 1 == count) {
      return take_or_wait<Traced>(task, slot);
    } else {
      return undo_if_thrown([&]() -> decltype(auto) { return take_or_wait<Traced>(task, slot); },
                            [&] { abandon_from<At + 1>(oldest); });
    }
  }

  template <std::size_t First>
  void abandon_from(task_slot* oldest) noexcept {
    ((Index < First ? void()
                    : abandon(static_cast<row_task<Index, G>&>(*this), oldest + (count - 1 - Index))),
     ...);
  }
};

template <class... G>
using task_row = indexed_task_row<std::index_sequence_for<G...>, G...>;

}  // namespace teff::detail
