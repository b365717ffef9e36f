// How the second closure of a join lies in its slot, and how its result comes back from a thief.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/results.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/tracing.hpp>

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace teff::detail {

template <class T>
concept fits_a_slot = sizeof(T) <= sizeof(task_slot::data) && alignof(T) <= 16 &&
                      std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>;

template <class T, class Slot>
T& stored(Slot& slot) noexcept {
  return *std::launder(reinterpret_cast<T*>(slot.data));
}

template <class T>
T move_out(T& stored) noexcept {
  T value = std::move(stored);
  std::destroy_at(std::addressof(stored));
  return value;
}

// Runs the task of this name by `evaluate` on the thief: leaves what it throws in the slot, else says that it
// ended well.
template <class Evaluate>
void run_stolen(task_slot& slot, const char* name, Evaluate&& evaluate) noexcept {
  auto state = slot_state::ended;
  catch_all(
      [&] {
        const traced_span task(event_kind::task, name);
        evaluate();
      },
      [&] {
        new (slot.data) std::exception_ptr(std::current_exception());
        state = slot_state::failed;
      });
  // Release: the result, to the waiter's acquire in settle(). seq_cst: before the look whether the
  // waiter sleeps (src/scheduler/README.md, "Waiting for a task").
  slot.state.store(state, std::memory_order_seq_cst);
  wake_owner(&slot);
}

// The thief has ended: frees the slot, after the exception it may hold or `result` was taken; also if that
// throws.
template <class R, class Result>
R finish_stolen(task_slot& slot, Result&& result) {
  struct freed {
    task_slot& slot;
    ~freed() { reclaim(&slot); }
  } const after{slot};
  if (slot.state.load(std::memory_order_relaxed) == slot_state::failed)
    std::rethrow_exception(move_out(stored<std::exception_ptr>(slot)));
  if constexpr (std::is_reference_v<R>) {
    return static_cast<R>(*result());
  } else {
    return result();
  }
}

// The closure and its result lie in the slot: nothing is on the stack.
template <class G>
struct join_task_in_slot {
  using result = value_t<G>;

  explicit join_task_in_slot(task_slot& slot, G& g) noexcept {
    ::new (slot.data) G(std::move(g));
    slot.run = [](task_slot& stolen, const scope_state*) {
      run_stolen(stolen, name_of(stored<G>(stolen)), [&stolen] {
        auto task = move_out(stored<G>(stolen));
        ::new (stolen.data) kept_t<result>(kept_value_of<G>(task));
      });
    };
  }
  result run(task_slot& slot) {
    auto task = move_out(stored<G>(slot));
    return value_of<G>(task);
  }
  void drop(task_slot& slot) noexcept { std::destroy_at(std::addressof(stored<G>(slot))); }
  static const char* name(task_slot& slot) noexcept { return name_of(stored<G>(slot)); }
  result stolen_result(task_slot& slot) {
    return finish_stolen<result>(slot, [&] { return move_out(stored<kept_t<result>>(slot)); });
  }
};

// The closure stays where the caller has it, the result comes to the caller's frame: anything too large for a
// slot, and closures given by reference.
template <class G>
struct join_task_in_frame {
  using result = value_t<G>;

  join_task_in_frame(task_slot& slot, std::remove_reference_t<G>& g) noexcept : closure(g) {
    new (slot.data) join_task_in_frame*(this);
    slot.run = [](task_slot& stolen_slot, const scope_state*) {
      auto* const frame = stored<join_task_in_frame*>(stolen_slot);
      run_stolen(stolen_slot, name_of(frame->closure), [frame] {
        ::new (static_cast<void*>(std::addressof(frame->value)))
            kept_t<result>(kept_value_of<G>(frame->closure));
      });
    };
  }
  join_task_in_frame(const join_task_in_frame&) = delete;
  join_task_in_frame& operator=(const join_task_in_frame&) = delete;
  ~join_task_in_frame() {}

  result run(task_slot&) { return value_of<G>(closure); }
  void drop(task_slot&) noexcept {}
  [[nodiscard]] const char* name(task_slot&) const noexcept { return name_of(closure); }
  result stolen_result(task_slot& slot) {
    return finish_stolen<result>(slot, [&]() -> kept_t<result> {
      struct destroyed {
        kept_t<result>& value;
        ~destroyed() { std::destroy_at(std::addressof(value)); }
      } const after{value};
      return std::move(value);
    });
  }

  std::remove_reference_t<G>& closure;
  union {
    kept_t<result> value;
  };
};

template <class G>
using join_task = std::conditional_t<!std::is_reference_v<G> && fits_a_slot<std::remove_const_t<G>> &&
                                         fits_a_slot<kept_t<value_t<G>>>,
                                     join_task_in_slot<G>, join_task_in_frame<G>>;

}  // namespace teff::detail
