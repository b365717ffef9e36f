// A worker counts the keys that others have sent; a task that has run is forgotten.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/scheduler/processor_clock.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace teff::detail {

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_arrived(worker_state& at, const Key& key) {
  if (!functions.received || functions.received(key)) count_placed(at, key);
}

// The worker of `here` is in the place of `at`, and counts what others have sent there. Returns whether there
// was anything.
template <class Key, class Hash>
bool keyed_graph<Key, Hash>::receive_at(worker_state& here, worker_state& at) noexcept {
  const auto before = here.items_received;
  for (auto& each : at.from) {
    // Acquire: pairs with the release in send().
    auto* const ring = each.load(std::memory_order_acquire);
    if (ring == nullptr) continue;
    typename worker_state::message message;
    while (ring->receive(message)) {
      ++here.items_received;
      if constexpr (travels_plainly<Key>) {
        this->try_count([&] { count_arrived(at, message); });
      } else {
        const std::unique_ptr<Key> box(message);
        this->try_count([&] { count_arrived(at, *box); });
      }
    }
  }
  if (!at.inbox.empty()) [[unlikely]] {
    this->leave_if_forked();
    take_some(here, at.inbox, [&](const Key& key) { count_arrived(at, key); });
  }
  return here.items_received != before;
}

// Each is an item that this worker has taken, whether or not it can be counted.
template <class Key, class Hash>
template <class Count>
void keyed_graph<Key, Hash>::take_some(worker_state& here, key_inbox<Key>& from, Count count) noexcept {
  typename key_inbox<Key>::taken_keys taken;
  from.take(taken);
  here.items_received += taken.count;
  if (taken.error) [[unlikely]]
    this->fail(std::move(taken.error));
  for (std::size_t i = 0; i < taken.count; ++i) {
    if (const auto& key = taken.keys[i]) this->try_count([&] { count(*key); });
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
  this->leave_if_forked();
  const auto before = here.items_received;
  const auto count = [&](const Key& key) {
    ++here.items_received;
    this->try_count([&] { count_unplaced(here, key); });
  };
  // Of few keys one, as often as it was fulfilled; its task runs next. The others stay where any worker finds
  // them.
  if (outside_.size() < few_outside && !functions.priority) {
    std::optional<typename key_inbox<Key>::same_keys> oldest;
    const auto equal = [](const Key& a, const Key& b) { return equal_keys(a, b); };
    catch_all([&] { oldest = outside_.take_oldest(equal); },
              [&] {
                ++here.items_received;
                this->fail(std::current_exception());
              });
    here.runs_what_it_receives = true;
    for (std::size_t i = 0; oldest && i < oldest->count; ++i) count(oldest->key);
    here.runs_what_it_receives = false;
  } else {
    take_some(here, outside_, [&](const Key& key) { count_unplaced(here, key); });
  }
  return here.items_received != before;
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::sees_messages(const worker_state& here) noexcept {
  if (!here.inbox.empty()) return true;
  for (const auto& each : here.from) {
    const auto* const ring = each.load(std::memory_order_acquire);
    if (ring != nullptr && ring->has_message()) return true;
  }
  return false;
}

// Not before the task has ended: as long as the node or its counter is there, another fulfilment is known to
// be one too many.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::end(worker_state& here, ready_node& ended) noexcept {
  auto& task = static_cast<node&>(ended);
  if (task.counted == counting::own_table) [[likely]] {
    here.placed.erase(&task);
    here.drop_node(&task);
  } else if (task.counted == counting::counters) {
    counters_->end(task.hash);
    here.drop_node(&task);
  } else if (task.counted == counting::none) {
    here.drop_node(&task);
  } else {
    here.count_unplaced(-1);
    unplaced().forget(task);
  }
}

// The worker, in its own place, is in the place of another one, too (src/task_source/places.md).
template <class Key, class Hash>
void keyed_graph<Key, Hash>::take_from(unsigned place, unsigned worker) noexcept {
  auto& here = *states_[worker];
  auto& at = *states_[place];
  at.pool_inside = &here.pool;
  receive_at(here, at);
  at.pool_inside = &at.pool;
  while (auto* const task = static_cast<node*>(at.ready.take_queued())) {
    at.placed.erase(task);
    task->counted = counting::none;
    catch_all([&] { this->share(here, task); }, [&] { here.drop_node(task); });
  }
  this->account(place).waiting.store(tasks_waiting(at), std::memory_order_relaxed);
}

}  // namespace teff::detail
