// A task graph's tasks, from their first fulfilled dependence until they ran (README, "Task graphs").
#pragma once

#include <teff/detail/fulfil_listener.hpp>
#include <teff/detail/function_of.hpp>
#include <teff/detail/graph_core.hpp>
#include <teff/detail/graph_station.hpp>
#include <teff/error.hpp>
#include <teff/graph_key.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace teff::detail {

// The graph's answers to questions about a key, of any callable types: one indirect call each.
template <class Key>
struct graph_functions {
  function_of<int, Key> indegree;
  function_of<void, Key> body;
  function_of<unsigned, Key> place;
  function_of<int, Key> priority;
  function_of<bool, Key> arrived;  // whether the key counts
};

// The graph and the station that the task belongs to which the calling thread runs.
struct running_graph {
  const graph_core* graph = nullptr;
  void* station = nullptr;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local running_graph running_on;

template <class Key, class Hash>
class keyed_graph final : public graph_core {
  using station = graph_station<Key>;
  using node = graph_node<Key>;
  using chains = key_chains<node>;

 public:
  keyed_graph(scheduler& runtime, unsigned workers) : graph_core(runtime, workers) {
    for (unsigned i = 0; i < workers; ++i) stations_.push_back(std::make_unique<station>(i, workers, nodes_));
  }

  // What is left of a graph whose runtime was shut down.
  ~keyed_graph() override {
    const auto destroy = [](node* left) { left->key.~Key(); };
    for (auto& each : stations_) {
      if (each->following != nullptr) destroy(each->following);
      while (node* const task = each->stealable.take()) destroy(task);
      each->placed.clear(destroy);
    }
    if (unplaced_owner_) unplaced_owner_->clear(destroy);
  }

  graph_functions<Key> functions;
  // While it is recorded or replayed: keys are fulfilled where somebody listens, and nowhere else.
  std::atomic<bool> listened_to{false};

  void fulfill(const Key& key) {
    if (running_on.graph == this) [[likely]] {
      fulfill_from(*static_cast<station*>(running_on.station), key);
    } else {
      fulfill_from_elsewhere(key);
    }
  }

  bool run(unsigned worker) noexcept override;
  bool sees_work(unsigned worker) noexcept override;

 private:
  // Within a task of this graph, on the station's worker.
  void fulfill_from(station& here, const Key& key) {
    if (cancelled()) [[unlikely]]
      return;
    const unsigned place = functions.place ? functions.place(key) : any_worker;
    if (place == here.index) [[likely]] {
      count_placed(here, key);
    } else if (place == any_worker) {
      count_unplaced(here, key);
    } else if (const unsigned reader = place % workers(); reader == here.index) {
      count_placed(here, key);
    } else {
      send(here, reader, key);
    }
  }
  void fulfill_from_elsewhere(const Key& key);

  void fail_over_fulfilled(const node& task) noexcept;

  [[nodiscard]] unsigned place_of(const Key& key) {
    if (!functions.place) return any_worker;
    const unsigned place = functions.place(key);
    return place < workers() || place == any_worker ? place : place % workers();
  }

  // Throws what the graph's functions throw, std::bad_alloc; then nothing is counted. Most fulfilments are
  // neither a task's first nor its last: these two are called at the end, so that the others save no
  // registers.
  void count_placed(station& here, const Key& key);
  [[gnu::noinline]] void make_placed(station& here, std::size_t hash, const Key& key);
  [[gnu::noinline]] void ready_placed(station& here, node& task);
  void count_unplaced(station& here, const Key& key);
  void ready_unplaced(station& here, node* ready);
  void send(station& here, unsigned place, const Key& key);

  void count_arrived(station& here, const Key& key);
  bool receive(station& here) noexcept;
  bool receive_outside(station& here) noexcept;
  template <class Count>
  void try_count(Count count) noexcept;
  node* find_task(station& here) noexcept;
  node* steal(station& here) noexcept;
  void execute(station& here, node* task) noexcept;
  void say_ended(station& here) noexcept;
  chains& unplaced();

  void forget_placed(unsigned worker, leftovers& all) override;
  void forget_unplaced(leftovers& all) override;
  [[nodiscard]] std::string running_key(unsigned worker) const override;
  void note(const node& left, leftovers& all) const;

  static constexpr std::size_t unplaced_buckets = std::size_t{1} << 16;
  static constexpr std::size_t inbox_batch = 64;
  // After so many tasks a worker looks whether there is anything else for it; so often without a task, too.
  static constexpr unsigned tasks_in_a_turn = 256;
  static constexpr unsigned looks_in_a_turn = 128;
  // Of equal priority, before it looks for messages (README, "Task graphs").
  static constexpr unsigned tasks_between_looks = 8;

  Hash hash_;
  node_exchange<node> nodes_;
  std::vector<std::unique_ptr<station>> stations_;
  key_inbox<Key> outside_;  // keys without a place that no worker fulfilled
  std::once_flag unplaced_made_;
  std::atomic<chains*> unplaced_{nullptr};
  std::unique_ptr<chains> unplaced_owner_;
};

// ---- Counting ----

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_placed(station& here, const Key& key) {
  const std::size_t hash = hash_(key);
  node* found = here.placed.find(hash, key);
  if (found == nullptr) return make_placed(here, hash, key);
  if (++found->received >= found->needed) ready_placed(here, *found);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::make_placed(station& here, std::size_t hash, const Key& key) {
  node* const made = here.make_node(hash, key, functions.indegree(key));
  made->placed = true;
  made->received = 1;
  here.placed.insert(made);
  if (made->needed == 1) ready_placed(here, *made);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::ready_placed(station& here, node& task) {
  if (task.received > task.needed) [[unlikely]]
    return fail_over_fulfilled(task);
  if (functions.priority) task.priority = functions.priority(task.key);
  here.ready.push(&task);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_unplaced(station& here, const Key& key) {
  const std::size_t hash = hash_(key);
  std::exception_ptr error;
  const auto outcome = unplaced().fulfill(
      hash, [&](const node& each) { return each.hash == hash && equal_keys(each.key, key); },
      [&]() -> node* {
        try {
          node* const made = here.make_node(hash, key, functions.indegree(key));
          made->received = 1;
          made->placed = false;
          ++here.unplaced;
          return made;
        } catch (...) {
          error = std::current_exception();
          return nullptr;
        }
      });
  for (node* spare = outcome.spare; spare != nullptr;) {
    --here.unplaced;
    here.drop_node(std::exchange(spare, spare->next));
  }
  for (node* ready = outcome.ready; ready != nullptr;) {
    --here.unplaced;
    ready_unplaced(here, std::exchange(ready, ready->next));
  }
  if (error) std::rethrow_exception(std::move(error));
}

// The last one that becomes ready is run next; those before it are for anybody.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::ready_unplaced(station& here, node* ready) {
  if (ready->received > ready->needed) fail_over_fulfilled(*ready);
  if (here.running != nullptr) std::swap(ready, here.following);
  if (ready == nullptr) return;
  account(here.index).begin_one();
  here.stealable.push(ready);
  published(runtime());
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::send(station& here, unsigned place, const Key& key) {
  account(here.index).begin_one();
  auto*& ring = here.to[place];
  if (ring == nullptr) {
    ring = new typename station::ring;
    // Release: the empty ring.
    stations_[place]->from[here.index].store(ring, std::memory_order_release);
  }
  bool sent = false;
  if constexpr (travels_plainly<Key>) {
    sent = ring->send(key);
  } else {
    auto box = std::make_unique<Key>(key);
    sent = ring->send(box.get());
    if (sent) static_cast<void>(box.release());
  }
  if (!sent) stations_[place]->inbox.push(key);
  published_to(runtime(), place);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::fulfill_from_elsewhere(const Key& key) {
  if (!functions.indegree || !functions.body)
    throw misuse("teff::task_graph::fulfill: the graph has no indegree() or no body()");
  if (listening.graph == this) {
    if (!static_cast<fulfil_listener<Key>*>(listening.listener)->passes_on(key)) return;
  } else if (listened_to.load(std::memory_order_relaxed)) {
    throw not_replayable("teff::task_graph: the key " + key_text(key) +
                         " was fulfilled by something else than the body of a task while the graph was "
                         "recorded or replayed");
  }
  const auto at = detail::here();
  if (at.runtime == &runtime()) {
    auto& here = *stations_[at.index];
    // Outside a task of this graph, it is an activity of its own; it has ended when this worker next looks
    // here.
    if (here.running == nullptr) {
      account(at.index).begin_one();
      ++here.taken;
    }
    return fulfill_from(here, key);
  }
  const call_in_progress call(runtime());
  const unsigned place = place_of(key);
  begin_outside();
  if (place == any_worker) {
    outside_.push(key);
    published(runtime());
  } else {
    stations_[place]->inbox.push(key);
    published_to(runtime(), place);
  }
}

template <class Key, class Hash>
typename keyed_graph<Key, Hash>::chains& keyed_graph<Key, Hash>::unplaced() {
  // Acquire: pairs with the release below.
  if (auto* const made = unplaced_.load(std::memory_order_acquire)) return *made;
  std::call_once(unplaced_made_, [this] {
    unplaced_owner_ = std::make_unique<chains>(unplaced_buckets);
    unplaced_.store(unplaced_owner_.get(), std::memory_order_release);
  });
  return *unplaced_owner_;
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::fail_over_fulfilled(const node& task) noexcept {
  fail(std::make_exception_ptr(over_fulfilled("teff::task_graph: the task " + key_text(task.key) +
                                              " was fulfilled more often than its indegree, " +
                                              std::to_string(task.needed) + ", says")));
}

// ---- A worker's turn ----

template <class Key, class Hash>
template <class Count>
void keyed_graph<Key, Hash>::try_count(Count count) noexcept {
  if (cancelled()) return;
  try {
    count();
  } catch (...) {
    fail(std::current_exception());
  }
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::count_arrived(station& here, const Key& key) {
  if (!functions.arrived || functions.arrived(key)) count_placed(here, key);
}

// Counts what others have sent. Says whether there was anything.
template <class Key, class Hash>
bool keyed_graph<Key, Hash>::receive(station& here) noexcept {
  const auto before = here.taken;
  for (auto& each : here.from) {
    // Acquire: pairs with the release in send().
    auto* const ring = each.load(std::memory_order_acquire);
    if (ring == nullptr) continue;
    typename station::message message;
    while (ring->receive(message)) {
      ++here.taken;
      if constexpr (travels_plainly<Key>) {
        try_count([&] { count_arrived(here, message); });
      } else {
        const std::unique_ptr<Key> box(message);
        try_count([&] { count_arrived(here, *box); });
      }
    }
  }
  if (!here.inbox.empty()) [[unlikely]] {
    for (const Key& key : here.inbox.take(inbox_batch)) {
      ++here.taken;
      try_count([&] { count_arrived(here, key); });
    }
  }
  return here.taken != before;
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::receive_outside(station& here) noexcept {
  if (outside_.empty()) return false;
  const auto keys = outside_.take(inbox_batch);
  for (const Key& key : keys) {
    ++here.taken;
    try_count([&] { count_unplaced(here, key); });
  }
  return !keys.empty();
}

template <class Key, class Hash>
typename keyed_graph<Key, Hash>::node* keyed_graph<Key, Hash>::find_task(station& here) noexcept {
  if (here.following != nullptr) return std::exchange(here.following, nullptr);
  if (node* const task = here.ready.pop()) return task;
  if (node* const task = here.stealable.take()) {
    ++here.taken;
    return task;
  }
  return nullptr;
}

template <class Key, class Hash>
typename keyed_graph<Key, Hash>::node* keyed_graph<Key, Hash>::steal(station& here) noexcept {
  here.random ^= here.random << 13;
  here.random ^= here.random >> 7;
  here.random ^= here.random << 17;
  const auto count = stations_.size();
  for (std::size_t i = 0, at = here.random % count; i < count; ++i, at = at + 1 == count ? 0 : at + 1) {
    if (node* const task = stations_[at]->stealable.steal()) {
      ++here.taken;
      return task;
    }
  }
  return nullptr;
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::execute(station& here, node* task) noexcept {
  if (!cancelled()) {
    const auto* const outer = std::exchange(here.running, &task->key);
    try {
      functions.body(task->key);
    } catch (...) {
      fail(std::current_exception());
    }
    here.running = outer;
  }
  // Only now: until here, another fulfilment is found to be one too many.
  if (task->placed) here.placed.erase(task);
  here.drop_node(task);
}

// All that this worker took has come to its end, if no task of this graph lies further down on its stack.
template <class Key, class Hash>
void keyed_graph<Key, Hash>::say_ended(station& here) noexcept {
  auto& mine = account(here.index);
  mine.waiting.store(static_cast<std::int64_t>(here.placed.size()) + here.unplaced,
                     std::memory_order_relaxed);
  // Release: all that the tasks did, and what they began, to whoever finds the graph at rest.
  mine.ended.store(here.taken, std::memory_order_release);
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::run(unsigned worker) noexcept {
  auto& here = *stations_[worker];
  const bool nested = here.running != nullptr;
  const auto outer = std::exchange(running_on, {this, &here});
  unsigned tasks = 0;
  for (unsigned looks = 0; looks < looks_in_a_turn;) {
    if (here.ready.empty() || tasks % tasks_between_looks == 0 || functions.priority) receive(here);
    if (node* const task = find_task(here)) {
      execute(here, task);
      looks = 0;
      if (++tasks == (nested ? 1 : tasks_in_a_turn)) break;
      continue;
    }
    if (receive_outside(here)) continue;
    if (!nested && looks == 0) say_ended(here);
    if (node* const task = steal(here)) {
      execute(here, task);
      ++tasks;
      looks = 0;
    } else {
      looks += tasks == 0 ? looks_in_a_turn : 1;
    }
  }
  running_on = outer;
  if (tasks != 0) return true;
  if (!nested) look_for_rest(worker);
  return false;
}

template <class Key, class Hash>
bool keyed_graph<Key, Hash>::sees_work(unsigned worker) noexcept {
  auto& here = *stations_[worker];
  if (here.running == nullptr) look_for_rest(worker);
  if (here.following != nullptr || !here.ready.empty() || !here.inbox.empty() || !outside_.empty())
    return true;
  for (const auto& each : here.from) {
    const auto* const ring = each.load(std::memory_order_acquire);
    if (ring != nullptr && ring->has_message()) return true;
  }
  for (const auto& each : stations_) {
    if (!each->stealable.empty()) return true;
  }
  return false;
}

// ---- The end ----

template <class Key, class Hash>
void keyed_graph<Key, Hash>::note(const node& left, leftovers& all) const {
  ++all.count;
  if (all.names.size() == most_names) return;
  all.names.push_back(key_text(left.key) + " (" + std::to_string(left.received) + " of " +
                      std::to_string(left.needed) + ")");
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::forget_placed(unsigned worker, leftovers& all) {
  auto& here = *stations_[worker];
  here.placed.clear([&](node* left) {
    note(*left, all);
    here.drop_node(left);
  });
  here.unplaced = 0;  // forget_unplaced() comes next
  if (here.running == nullptr) say_ended(here);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::forget_unplaced(leftovers& all) {
  if (auto* const made = unplaced_.load(std::memory_order_acquire)) {
    node* free = nullptr;
    made->clear([&](node* left) {
      note(*left, all);
      left->key.~Key();
      left->next = std::exchange(free, left);
    });
    if (free != nullptr) nodes_.put(free);
  }
}

template <class Key, class Hash>
std::string keyed_graph<Key, Hash>::running_key(unsigned worker) const {
  const auto* const key = stations_[worker]->running;
  return key == nullptr ? std::string() : key_text(*key);
}

}  // namespace teff::detail
