// A fulfilment is counted, or sent to the worker that counts it; the last one makes its task ready
// (src/graph/README.md).
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace teff::detail {

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_placed(worker_state& at, const Key& key) {
  const std::size_t hash = hash_(key);
  node* found = at.placed.find(hash, key);
  if (found == nullptr) return make_placed(at, hash, key);
  if (++found->received >= found->needed) ready_placed(at, *found);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::make_placed(worker_state& at, std::size_t hash, const Key& key) {
  if (node* const found = at.placed.find_unmoved(hash, key)) [[unlikely]] {
    if (++found->received >= found->needed) ready_placed(at, *found);
    return;
  }
  node* const made = at.make_node(*at.pool_inside, hash, key, indegree_of(key), priority_of(key));
  made->counted = counting::own_table;
  made->received = 1;
  at.placed.insert(made);
  if (made->needed == 1) ready_placed(at, *made);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::ready_placed(worker_state& at, node& task) {
  if (task.received > task.needed) [[unlikely]]
    return fail_over_fulfilled(task.key, task.needed);
  this->fail_if_thrown([&] { at.ready.push_own(&task); });
}

// A key of the worker's own place, which it has left. If it can, it stays there until the body has ended. A
// task of another place sends the key, as it would from there: the worker calls received() when it is back.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_own(worker_state& here, const Key& key) {
  if (was_taken(*here.running->task)) return send(here, here.index, key);
  if (this->enter(here)) return count_placed(here, key);
  queue(here.index, key, [&] { this->account(here.index).begin_one(); });
}

// Keys without a place where there is one worker: in its own table, without an atomic operation.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_alone(worker_state& here, const Key& key) {
  const std::size_t hash = hash_(key);
  node* task = here.placed.find(hash, key);
  if (task == nullptr) task = here.placed.find_unmoved(hash, key);
  if (task == nullptr) {
    task = here.make_node(hash, key, indegree_of(key), priority_of(key));
    task->counted = counting::own_table;
    here.placed.insert(task);
  }
  if (++task->received < task->needed) return;
  if (task->received > task->needed) [[unlikely]]
    return fail_over_fulfilled(task->key, task->needed);
  this->make_ready(here, task);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_numbered(worker_state& here, const Key& key) {
  using outcome = dense_counters<>::outcome;
  const outcome now = counters_->count(number_of(key), [&] { return indegree_of(key); }, here.alone);
  if (now == outcome::counted) return;
  if (now == outcome::waits) return here.count_unplaced(1);
  if (now == outcome::over) [[unlikely]]
    return fail_over_fulfilled(key, std::max(indegree_of(key), 1));
  if (now == outcome::ready) here.count_unplaced(-1);
  node* ready = nullptr;
  this->fail_if_thrown([&] { ready = here.make_node(number_of(key), key, 1, priority_of(key)); });
  ready->counted = counting::counters;
  this->make_ready(here, ready);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_unplaced(worker_state& here, const Key& key) {
  if (counters_ != nullptr) return count_numbered(here, key);
  if (here.alone) return count_alone(here, key);
  count_in_chains(here, key);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_in_chains(worker_state& here, const Key& key) {
  const std::size_t hash = hash_(key);
  std::exception_ptr error;
  const auto outcome = unplaced().fulfill(
      hash, [&](const node& each) { return each.hash == hash && equal_keys(each.key, key); },
      [&]() -> node* {
        node* made = nullptr;
        catch_all([&] { made = here.make_node(hash, key, indegree_of(key), priority_of(key)); },
                  [&] { error = std::current_exception(); });
        if (made == nullptr) return nullptr;
        made->received = 1;
        made->counted = counting::chains;
        here.count_unplaced(1);
        return made;
      },
      [this](const node& task) { fail_over_fulfilled(task.key, task.needed); },
      [this](std::size_t buckets) { return unplaced_keys() > buckets; });
  settle(here, outcome);
  if (error) std::rethrow_exception(std::move(error));
}

// About so many.
template <class Key, class Hash>
std::size_t keyed_graph<Key, Hash>::unplaced_keys() const noexcept {
  std::int64_t sum = 0;
  for (const auto& each : states_.all()) sum += each.unplaced.load(std::memory_order_relaxed);
  return sum < 0 ? 0 : static_cast<std::size_t>(sum);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::drop_spare(worker_state& here, node* spare) noexcept {
  while (spare != nullptr) {
    if (!spare->ran.load(std::memory_order_relaxed)) here.count_unplaced(-1);
    here.drop_node(std::exchange(spare, spare->next));
  }
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::send(worker_state& here, unsigned place, const Key& key) {
  // Anything that can throw comes before the item begins: else the graph would wait for it.
  const auto begin = [&] { this->account(here.index).begin_one(); };
  auto& at = states_[place]->from[here.index];
  // Relaxed: this worker makes it.
  auto* ring = at.load(std::memory_order_relaxed);
  if (ring == nullptr) [[unlikely]] {
    ring = new typename worker_state::ring;
    // Release: the empty ring, to the acquire in receive().
    at.store(ring, std::memory_order_release);
  }
  if (!ring->has_room()) [[unlikely]] {
    states_[place]->inbox.push(key, begin);
  } else if constexpr (travels_plainly<Key>) {
    begin();
    static_cast<void>(ring->send(key));
  } else {
    auto box = std::make_unique<Key>(key);
    begin();
    static_cast<void>(ring->send(box.release()));
  }
  published_to(this->runtime(), place);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::fulfill_from_elsewhere(const Key& key) {
  functions.expect_complete("teff::task_graph::fulfill");
  this->expect_runtime("teff::task_graph::fulfill");
  if (observed.of == this) {
    if (!static_cast<release_observer<Key>*>(observed.observer)->passes_on(key)) return;
  } else if (being_observed.load(std::memory_order_relaxed)) {
    expect_own_process(this->runtime());
    throw_error(not_replayable("teff::task_graph: the key " + key_text(key) +
                               " was fulfilled while the graph was recorded or replayed, but not by the "
                               "graph's body itself; a body that is given to replay() must not fulfil keys, "
                               "since the recording has the dependences"));
  }
  const auto at = detail::here();
  if (at.runtime == &this->runtime()) {
    auto& here = *states_[at.index];
    // Outside a task of this graph, the fulfilment is a further item. It ends when this worker next looks for
    // work here.
    if (here.running != nullptr) return fulfill_from(here, key);
    // It does not wait for its place: it may be in another worker's place of another graph.
    if (this->enter(here)) {
      struct exit {
        keyed_graph& graph;
        worker_state& of;
        ~exit() { graph.leave(of); }
      } const exit{*this, here};
      this->account(at.index).begin_one();
      ++here.items_received;
      return fulfill_from(here, key);
    }
  }
  const call_in_progress call(this->runtime());
  queue(place_of(key), key, [this] { this->begin_outside(); });
}

// Leaves the key where the worker of its place finds it, or any worker. Calls begin() as key_inbox does.
template <class Key, class Hash>
template <class Begin>
void keyed_graph<Key, Hash>::queue(unsigned place, const Key& key, Begin begin) {
  if (place == any_worker) {
    outside_.push(key, begin);
    published(this->runtime());
  } else {
    states_[place]->inbox.push(key, begin);
    published_to(this->runtime(), place);
  }
}

template <class Key, class Hash>
typename keyed_graph<Key, Hash>::chains& keyed_graph<Key, Hash>::unplaced() {
  // Acquire: pairs with the release below.
  if (auto* const made = unplaced_.load(std::memory_order_acquire)) return *made;
  // Not std::call_once(), which makes a system call for each graph.
  auto made = std::make_unique<chains>(typename chains::shape{});
  chains* first = nullptr;
  // Release: the chains. Acquire: the chains of the thread that was first.
  if (unplaced_.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel,
                                        std::memory_order_acquire))
    first = made.release();
  return *first;
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::refuse_to_start(const Key& key, int needed, const char* call) {
  throw_error(misuse(std::string(call) + ": the indegree of the key " + key_text(key) + " is " +
                     std::to_string(needed) +
                     ", and start() is for tasks of indegree 0: the tasks that it depends on fulfil it"));
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::fail_over_fulfilled(const Key& key, int needed) noexcept {
  // An indegree of 0 is kept as 1: either needs one fulfilment.
  this->fail(std::make_exception_ptr(over_fulfilled(
      "teff::task_graph: the task " + key_text(key) + " was fulfilled more often than its indegree, " +
      (needed == 1 ? "0 or 1" : std::to_string(needed)) + ", says")));
}

}  // namespace teff::detail
