// A fulfilment is counted, or sent to the worker that counts it. A worker counts the keys that others have
// left in its inbox, or that came from outside the workers. A task that has run is forgotten (README.md).
#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_core.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>

#include <cstddef>
#include <mutex>

namespace teff::detail {

// A key of the worker's own place, which it has left. If it can, it stays there until the body has ended. A
// task of another place sends the key, as it would from there: the worker calls received() when it is back.
void graph_core::count_own(graph_worker& caller, const void* key) {
  if (was_taken(*caller.running->task)) return send_to_inbox(caller, caller.index, key);
  if (enter_place(caller)) return fulfill_within(caller, key);
  send_to_inbox(caller, caller.index, key);
}

std::size_t graph_core::unplaced_keys() const noexcept {
  std::int64_t sum = 0;
  for (const auto& each : states_.all()) sum += each.unplaced.load(std::memory_order_relaxed);
  return sum < 0 ? 0 : static_cast<std::size_t>(sum);
}

// ---- From elsewhere, and to other places ----

void graph_core::send_to_inbox(graph_worker& caller, unsigned place, const void* key) {
  auto& message = sent(caller.pool, key);
  account(caller.index).begin_one();
  give(message, place);
}

void graph_core::fulfill_from_elsewhere(const void* key) {
  functions.expect_complete("teff::task_graph::fulfill");
  expect_runtime("teff::task_graph::fulfill");
  if (self.frame->is_of(*this) && self.frame->observer != nullptr) {
    if (!passes_on(self.frame->observer, key)) return;
  } else if (being_observed.load(std::memory_order_relaxed)) {
    expect_own_process(runtime());
    throw not_replayable("teff::task_graph: the key " + text_of(key) +
                         " was fulfilled while the graph was recorded or replayed, but not by the "
                         "graph's body itself; a body that is given to replay() must not fulfil keys, "
                         "since the recording has the dependences");
  }
  const auto at = detail::this_worker();
  if (at.runtime == &runtime()) {
    auto& caller = *states_[at.index];
    // Outside a task of this graph, the fulfilment is a further item. It ends when this worker next looks for
    // work here.
    if (caller.running != nullptr) return fulfill_within(caller, key);
    // It does not wait for its place: it may be in another worker's place of another graph.
    if (enter_place(caller)) {
      begin_own_item(caller);
      undo_if_thrown([&] { fulfill_within(caller, key); }, [&] { leave_place(caller); });
      return leave_place(caller);
    }
  }
  const call_in_progress call(runtime());
  const unsigned place = functions.place ? functions.place(key) : any_worker;
  if (place != any_worker) expect_worker(key, place);
  graph_node* message = nullptr;
  {
    const std::lock_guard lock(outside_);
    message = &sent(outside_pool_, key);
  }
  begin_outside();
  give(*message, place);
}

// ---- On the worker that counts ----

// Whether or not it can be counted.
void graph_core::accept_key(graph_worker& caller, graph_worker& at, runnable& key, bool has_place) noexcept {
  ++caller.items_received;
  auto& message = static_cast<graph_node&>(key);
  try_count([&] { count_sent(at, message, has_place); });
  drop_node(caller, message);
}

bool graph_core::has_work(unsigned place) noexcept {
  // A recording has each task on its own worker.
  if (being_observed.load(std::memory_order_relaxed)) return false;
  return states_[place]->ready.has_own() || sees_messages(*states_[place]) || !inbox_of(place).empty();
}

// Not before the task has ended: as long as the node or its counter is there, another fulfilment is known to
// be one too many.
inline void graph_core::end(graph_worker& caller, runnable& ended) noexcept {
  auto& task = static_cast<graph_node&>(ended);
  if (task.counted == counting::own_table) [[likely]] {
    caller.placed.erase(&task);
    drop_node(caller, task);
  } else if (task.counted == counting::counters) {
    counters_->end(task.hash);
    drop_node(caller, task);
  } else if (task.counted == counting::none) {
    drop_node(caller, task);
  } else {
    caller.count_unplaced(-1);
    key_chains::forget(task);
  }
}

// The worker, in its own place, is in the place of another one, too (src/task_source/places.md).
void graph_core::take_from(unsigned place, unsigned worker) noexcept {
  auto& caller = *states_[worker];
  auto& at = *states_[place];
  const auto take_out = [&](graph_node& task) {
    at.placed.erase(&task);
    task.counted = counting::none;
  };
  at.pool_inside = &caller.pool;
  while (receive(caller, at)) continue;
  empty_inbox(caller, place, [&](held_end<>& ended) { take_out(static_cast<graph_node&>(*ended.task)); });
  at.pool_inside = &at.pool;
  while (auto* const task = static_cast<graph_node*>(at.ready.take_queued())) {
    take_out(*task);
    catch_all([&] { share(caller, task); }, [&] { drop_node(caller, *task); });
  }
  account(place).waiting.store(tasks_waiting(at), std::memory_order_relaxed);
}

template class task_source<graph_core, graph_worker>;

}  // namespace teff::detail
