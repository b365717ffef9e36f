// A worker in a task graph: it counts what others have sent, and runs what is ready.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/scheduler/core_share.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/processor_clock.hpp>
#include <teff/detail/scheduler/requests.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace teff::detail {

template <class Key, class Hash>
template <class Count>
void keyed_graph<Key, Hash>::try_count(Count count) noexcept {
  if (cancelled()) return;
  catch_all(count, [this] { fail(std::current_exception()); });
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_arrived(worker_state& here, const Key& key) {
  if (!functions.arrived || functions.arrived(key)) count_placed(here, key);
}

// Counts what others have sent. Returns whether there was anything.
template <class Key, class Hash>
bool keyed_graph<Key, Hash>::receive(worker_state& here) noexcept {
  const auto before = here.messages_taken;
  for (auto& each : here.from) {
    // Acquire: pairs with the release in send().
    auto* const ring = each.load(std::memory_order_acquire);
    if (ring == nullptr) continue;
    typename worker_state::message message;
    while (ring->receive(message)) {
      ++here.messages_taken;
      if constexpr (travels_plainly<Key>) {
        try_count([&] { count_arrived(here, message); });
      } else {
        const std::unique_ptr<Key> box(message);
        try_count([&] { count_arrived(here, *box); });
      }
    }
  }
  if (!here.inbox.empty()) [[unlikely]] {
    leave_if_forked();
    take_some(here, here.inbox, [&](const Key& key) { count_arrived(here, key); });
  }
  return here.messages_taken != before;
}

// Each is an item that this worker has taken, whether or not it can be counted.
template <class Key, class Hash>
template <class Count>
void keyed_graph<Key, Hash>::take_some(worker_state& here, key_inbox<Key>& from, Count count) noexcept {
  typename key_inbox<Key>::taken_keys taken;
  from.take(taken);
  here.messages_taken += taken.count;
  if (taken.error) [[unlikely]]
    fail(std::move(taken.error));
  for (std::size_t i = 0; i < taken.count; ++i) {
    if (const auto& key = taken.keys[i]) try_count([&] { count(*key); });
  }
}

// For a moment only: as long as somebody puts some in, or takes them.
template <class Key, class Hash>
bool keyed_graph<Key, Hash>::leaves_outside_alone(worker_state& here) noexcept {
  if (outside_.size() >= few_outside) return false;
  const auto now = processor_clock::now();
  const auto changes = outside_.changes();
  if (std::exchange(here.outside_seen, changes) != changes) here.outside_since = now;
  return now - here.outside_since < processor_clock::in(outside_patience);
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::receive_outside(worker_state& here) noexcept {
  if (outside_.empty()) return false;
  leave_if_forked();
  const auto before = here.messages_taken;
  const auto count = [&](const Key& key) {
    ++here.messages_taken;
    try_count([&] { count_unplaced(here, key); });
  };
  // Of few keys one, as often as it was fulfilled; its task runs next. The others stay where any worker finds
  // them.
  if (outside_.size() < few_outside && !functions.priority) {
    std::optional<typename key_inbox<Key>::same_keys> oldest;
    const auto equal = [](const Key& a, const Key& b) { return equal_keys(a, b); };
    catch_all([&] { oldest = outside_.take_oldest(equal); },
              [&] {
                ++here.messages_taken;
                fail(std::current_exception());
              });
    here.runs_what_it_receives = true;
    for (std::size_t i = 0; oldest && i < oldest->count; ++i) count(oldest->key);
    here.runs_what_it_receives = false;
  } else {
    take_some(here, outside_, [&](const Key& key) { count_unplaced(here, key); });
  }
  return here.messages_taken != before;
}

template <class Key, class Hash>
typename keyed_graph<Key, Hash>::node* keyed_graph<Key, Hash>::find_task(worker_state& here) noexcept {
  return static_cast<node*>(here.ready.take([&] {
    leave_if_forked();
    receive_outside(here);
  }));
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::call_body(worker_state& here, const Key& key) noexcept {
  if (cancelled()) [[unlikely]]
    return leave_if_forked();
  const auto* const outer = std::exchange(here.running, &key);
  catch_all([&] { functions.body(key); }, [this] { fail(std::current_exception()); });
  here.running = outer;
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::execute_kept(worker_state& here) noexcept {
  const Key key = *std::exchange(here.kept, std::nullopt);
  call_body(here, key);
  counters_->end(number_of(key));  // not before, as in execute()
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::execute(worker_state& here, node* task) noexcept {
  call_body(here, task->key);
  // Not before: as long as the node or its counter is there, another fulfilment is known to be one too many.
  if (task->counted == counting::own_table) [[likely]] {
    here.placed.erase(task);
    here.drop_node(task);
  } else if (task->counted == counting::counters) {
    counters_->end(task->hash);
    here.drop_node(task);
  } else {
    here.count_unplaced(-1);
    unplaced().forget(*task);
  }
}

// Says that all items which this worker took have ended. Not to be called while a task of this graph lies
// below on its stack.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::say_ended(worker_state& here) noexcept {
  auto& mine = account(here.index);
  mine.waiting.store(
      static_cast<std::int64_t>(here.placed.size()) + here.unplaced.load(std::memory_order_relaxed),
      std::memory_order_relaxed);
  // Release: all that the tasks did, and what they began, to whoever finds the graph at rest.
  mine.ended.store(items_taken(here), std::memory_order_release);
}

// What the worker fulfilled outside of this graph's tasks ends here if it may not run() any more: a guest
// that leaves has a last look only.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::settle_items(worker_state& here) noexcept {
  if (account(here.index).ended.load(std::memory_order_relaxed) == items_taken(here)) return;
  if (here.kept || here.ready.sees_own() || !this->enter(here.index)) return;
  say_ended(here);
  this->leave(here.index);
}

// How many tasks the next run() may take, after one that took so many.
template <class Key, class Hash>
unsigned keyed_graph<Key, Hash>::next_tasks_a_run(unsigned tasks, std::int64_t took, unsigned most) noexcept {
  const auto time = processor_clock::in(time_a_run);
  if (took > time) return static_cast<unsigned>(std::max<std::int64_t>(tasks * time / took, 1));
  return tasks == most && took < time / 2 ? std::min(most * 2, tasks_a_run) : most;
}

// What this worker has kept to run next goes where others find it: it does something else for a while.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::share_kept(worker_state& here) noexcept {
  try_count([&] {
    if (here.kept) share_numbered(here, *std::exchange(here.kept, std::nullopt), here.kept_priority);
    if (ready_node* const next = here.ready.keep_next(nullptr)) share(here, next);
  });
}

// Another program gets the core for a while.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::leave_core(worker_state& here) noexcept {
  if (here.ready.has_own()) return;  // nobody else may run these
  share_kept(here);
  this_core.leave();
}

// With priorities: what is kept goes where others find it, if another task is to run before. There may be one
// that is in no queue yet.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::compare_kept(worker_state& here) noexcept {
  const ready_node* const kept = here.ready.kept();
  // In this order: a graph that has no task yet may be about to be given its functions.
  if ((!here.kept && kept == nullptr) || !functions.priority) [[likely]]
    return;
  leave_if_forked();
  receive_outside(here);
  if (!here.ready.has_before(here.kept ? here.kept_priority : kept->priority)) return;
  try_count([&] {
    if (here.kept)
      share_numbered(here, *std::exchange(here.kept, std::nullopt), here.kept_priority);
    else
      share(here, here.ready.keep_next(nullptr));
  });
}

// Runs a task that lies ready here, if there is one.
template <class Key, class Hash>
bool keyed_graph<Key, Hash>::run_next(worker_state& here) noexcept {
  if (here.kept) {
    execute_kept(here);
    return true;
  }
  node* const task = find_task(here);
  if (task != nullptr) execute(here, task);
  return task != nullptr;
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::run(unsigned worker) noexcept {
  auto& here = *states_[worker];
  const bool nested = here.running != nullptr;
  if (!nested && !this->enter(worker)) return false;
  const auto outer = std::exchange(running_on, {this, &here});
  // Others wait meanwhile: messages of a communicator, or tasks of another graph.
  const bool is_timed = looks_elsewhere || is_one_of_several();
  const unsigned most = nested ? 1 : is_timed ? here.tasks_a_run : tasks_a_run;
  const auto began = is_timed ? processor_clock::now() : 0;
  unsigned tasks = 0;
  // Who waits asks when it first finds nothing. After that all ask rarely: the others write what at_rest()
  // reads.
  bool asks_at_once = account(worker).awaits && !nested;
  for (unsigned looks = 0; looks < looks_a_run;) {
    const bool has_ready = here.kept || here.ready.has_own();
    if (!has_ready || tasks % tasks_between_looks == 0 || functions.priority) receive(here);
    compare_kept(here);
    if (run_next(here)) {
      looks = 0;
      if (++tasks == most) break;
      if (self.asked() && !nested && makes_way_for_request()) [[unlikely]] {
        share_kept(here);
        break;
      }
      if ((tasks % tasks_between_looks == 0 || this_core.is_shared()) && this_core.is_time_to_leave())
        leave_core(here);
      continue;
    }
    if (receive_outside(here)) continue;
    leave_if_forked();
    if (!nested && looks == 0) say_ended(here);
    if (node* const task = static_cast<node*>(ready_.steal(here.ready))) {
      execute(here, task);
      ++tasks;
      looks = 0;
    } else if (tasks == 0 || looks_elsewhere || is_being_detached() ||
               (std::exchange(asks_at_once, false) && at_rest())) {
      break;
    } else if (++looks % looks_between_rests == 0 && !nested && finds_rest(worker)) {
      break;
    }
  }
  if (is_timed && tasks != 0 && !nested)
    here.tasks_a_run = next_tasks_a_run(tasks, processor_clock::now() - began, most);
  running_on = outer;
  if (!nested) this->leave(worker);
  if (tasks != 0) return true;
  if (!nested) look_for_rest(worker);
  return false;
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::run_own(unsigned worker) noexcept {
  auto& here = *states_[worker];
  const bool nested = here.running != nullptr;
  if (!nested && !this->enter(worker)) return false;
  const auto outer = std::exchange(running_on, {this, &here});
  const bool received = receive(here);
  compare_kept(here);
  bool ran = true;
  if (here.kept) {
    execute_kept(here);
  } else if (node* const task = static_cast<node*>(here.ready.take_own())) {
    execute(here, task);
  } else {
    ran = false;
    if (!nested) say_ended(here);
  }
  running_on = outer;
  if (!nested) this->leave(worker);
  if (!ran && !nested) look_for_rest(worker);
  return ran || received;
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::sees_work(unsigned worker) noexcept {
  return sees_own_work(worker) || !outside_.empty() || ready_.sees_shared();
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::invites(unsigned worker) noexcept {
  if (sees_own_work(worker) || ready_.sees_shared()) return true;
  return !outside_.empty() && !leaves_outside_alone(*states_[worker]);
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::sees_own_work(unsigned worker) noexcept {
  auto& here = *states_[worker];
  if (here.running == nullptr) {
    settle_items(here);
    look_for_rest(worker);
  }
  if (here.kept || here.ready.sees_own() || !here.inbox.empty()) return true;
  for (const auto& each : here.from) {
    const auto* const ring = each.load(std::memory_order_acquire);
    if (ring != nullptr && ring->has_message()) return true;
  }
  return false;
}

}  // namespace teff::detail
