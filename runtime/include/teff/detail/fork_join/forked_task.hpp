// Where a fork's task lies: in a slot and in its handle, or outside the workers.
#pragma once

#include <teff/detail/fork_join/task_row.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace teff::detail {

// A closure too large for a slot lies in its handle.
template <class F>
struct kept_closure {
  F kept;
};
template <class F>
struct forked_task_in_frame : kept_closure<F>, join_task_in_frame<F> {
  forked_task_in_frame(task_slot& slot, F& f)
      : kept_closure<F>{std::forward<F>(f)}, join_task_in_frame<F>(slot, this->kept) {}
};
template <class F>
using forked_task = std::conditional_t<std::is_same_v<join_task<F>, join_task_in_slot<F>>, join_task<F>,
                                       forked_task_in_frame<F>>;

// A slot for a fork outside a runtime's workers: it is in no deque, and whoever gets the fork runs it.
using slot_outside = std::unique_ptr<task_slot>;
[[gnu::cold]] slot_outside new_slot_outside();

// A fork is got whose slot is not the newest of the calling worker. Returns if that was made outside, else
// throws misuse.
[[gnu::cold]] void expect_outside(const task_slot* slot);

}  // namespace teff::detail
