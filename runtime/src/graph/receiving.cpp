// A worker counts the keys that others have left in its inbox, or that came from outside the workers; a task
// that has run is forgotten.
#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_core.hpp>

#include <cstddef>
#include <exception>
#include <utility>

namespace teff::detail {

// Whether or not it can be counted.
void graph_core::accept_key(graph_worker& here, graph_worker& at, runnable& key, bool has_place) noexcept {
  ++here.items_received;
  auto& message = static_cast<graph_node&>(key);
  try_count([&] { count_sent(at, message, has_place); });
  drop_node(here, message);
}

bool graph_core::has_work(unsigned place) noexcept {
  // A recording has each task on its own worker.
  if (being_observed.load(std::memory_order_relaxed)) return false;
  return states_[place]->ready.has_own() || sees_in_queues(*states_[place]) || !inbox_of(place).empty();
}

// Not before the task has ended: as long as the node or its counter is there, another fulfilment is known to
// be one too many.
inline void graph_core::end(graph_worker& here, runnable& ended) noexcept {
  auto& task = static_cast<graph_node&>(ended);
  if (task.counted == counting::own_table) [[likely]] {
    here.placed.erase(&task);
    drop_node(here, task);
  } else if (task.counted == counting::counters) {
    counters_->end(task.hash);
    drop_node(here, task);
  } else if (task.counted == counting::none) {
    drop_node(here, task);
  } else {
    here.count_unplaced(-1);
    key_chains::forget(task);
  }
}

// The worker, in its own place, is in the place of another one, too (src/task_source/places.md).
void graph_core::take_from(unsigned place, unsigned worker) noexcept {
  auto& here = *states_[worker];
  auto& at = *states_[place];
  const auto take_out = [&](graph_node& task) {
    at.placed.erase(&task);
    task.counted = counting::none;
  };
  at.pool_inside = &here.pool;
  while (receive_at(here, at)) continue;
  empty_inbox(here, place, [&](held_end<>& ended) { take_out(static_cast<graph_node&>(*ended.task)); });
  at.pool_inside = &at.pool;
  while (auto* const task = static_cast<graph_node*>(at.ready.take_queued())) {
    take_out(*task);
    catch_all([&] { share(here, task); }, [&] { drop_node(here, *task); });
  }
  account(place).waiting.store(tasks_waiting(at), std::memory_order_relaxed);
}

template class task_source<graph_core, graph_worker>;

}  // namespace teff::detail
