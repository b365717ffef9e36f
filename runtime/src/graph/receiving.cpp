// A worker counts the keys that others have left in its inbox, or that came from outside the workers; a task
// that has run is forgotten.
#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_core.hpp>
#include <teff/detail/scheduler/processor_clock.hpp>

#include <cstddef>
#include <exception>
#include <utility>

namespace teff::detail {

void graph_core::drop_message(void* message) const noexcept {
  if (!shape_.travels_plainly) drop_box(*static_cast<void**>(message));
}

void graph_core::drop_messages(key_inbox& of) const noexcept {
  key_inbox::taken_messages some;
  for (of.take(some); some.count != 0; of.take(some))
    for (std::size_t i = 0; i < some.count; ++i) drop_message(some.bytes + i * shape_.message_bytes);
}

// Each is an item that this worker has taken, whether or not it can be counted.
template <class Count>
void graph_core::take_some(graph_worker& here, key_inbox& from, Count count) noexcept {
  key_inbox::taken_messages taken;
  from.take(taken);
  here.items_received += taken.count;
  for (std::size_t i = 0; i < taken.count; ++i) {
    void* const message = taken.bytes + i * shape_.message_bytes;
    try_count([&] { count(key_in_message(message)); });
    drop_message(message);
  }
}

void graph_core::receive_inbox(graph_worker& here, graph_worker& at) noexcept {
  leave_if_forked();
  take_some(here, at.inbox, [&](const void* key) { count_in_place(at, key); });
}

// The thread that waits for the graph runs short tasks itself before another worker has got them. So workers
// leave fewer keys from outside than this to it, as long as it takes one in so many nanoseconds.
constexpr std::size_t few_outside = 16;
constexpr std::int64_t outside_patience = 1000;

// For a moment only: as long as somebody puts some in, or takes them.
bool graph_core::leaves_outside_alone(graph_worker& here) noexcept {
  if (outside_.size() >= few_outside) return false;
  const auto now = processor_clock::now();
  const auto changes = outside_.changes();
  if (std::exchange(here.outside_seen, changes) != changes) here.outside_since = now;
  return now - here.outside_since < processor_clock::in(outside_patience);
}

bool graph_core::receive_outside(graph_worker& here) noexcept {
  if (outside_.empty()) return false;
  leave_if_forked();
  const auto before = here.items_received;
  // Of few keys one, as often as it was fulfilled; its task runs next. The others stay where any worker finds
  // them.
  if (outside_.size() < few_outside && !functions.priority) {
    key_inbox::taken_messages oldest;
    const std::size_t times = outside_.take_oldest(
        oldest,
        [this](const void* a, const void* b) {
          bool same = false;
          try_count([&] { same = are_same(key_in_message(a), key_in_message(b)); });
          return same;
        },
        [this](void* message) { drop_message(message); });
    here.runs_what_it_receives = true;
    for (std::size_t i = 0; i < times; ++i) {
      ++here.items_received;
      try_count([&] { count_without_place(here, key_in_message(oldest.bytes)); });
    }
    here.runs_what_it_receives = false;
    if (times != 0) drop_message(oldest.bytes);
  } else {
    take_some(here, outside_, [&](const void* key) { count_without_place(here, key); });
  }
  return here.items_received != before;
}

bool graph_core::has_work(unsigned place) noexcept {
  // A recording has each task on its own worker.
  if (being_observed.load(std::memory_order_relaxed)) return false;
  return states_[place]->ready.has_own() || sees_messages(*states_[place]);
}

// Not before the task has ended: as long as the node or its counter is there, another fulfilment is known to
// be one too many.
void graph_core::end(graph_worker& here, runnable& ended) noexcept {
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
  at.pool_inside = &here.pool;
  receive_at(here, at);
  at.pool_inside = &at.pool;
  while (auto* const task = static_cast<graph_node*>(at.ready.take_queued())) {
    at.placed.erase(task);
    task->counted = counting::none;
    catch_all([&] { share(here, task); }, [&] { drop_node(here, *task); });
  }
  account(place).waiting.store(tasks_waiting(at), std::memory_order_relaxed);
}

template class task_source<graph_core, graph_worker>;

}  // namespace teff::detail
