// A task graph's tasks, from their first fulfilled dependence until they ran (src/graph/README.md).
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/dense_counters.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/graph/graph_worker.hpp>
#include <teff/detail/graph/key_chains.hpp>
#include <teff/detail/graph/key_text.hpp>
#include <teff/detail/scheduler/release_observer.hpp>
#include <teff/detail/task_source/recycled_memory.hpp>
#include <teff/detail/task_source/task_source.hpp>
#include <teff/error.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace teff::detail {

template <class Key, class Hash>
class keyed_graph final : public task_source<keyed_graph<Key, Hash>, graph_worker<Key>> {
  using base = task_source<keyed_graph<Key, Hash>, graph_worker<Key>>;
  using worker_state = graph_worker<Key>;
  using node = graph_node<Key>;
  using chains = key_chains<node>;

 public:
  keyed_graph(scheduler& runtime, unsigned workers)
      : base(runtime, workers, "teff::task_graph"),
        rings_(std::size_t{workers} * workers),
        states_(workers, [this](worker_state* at, std::size_t i) {
          const std::size_t count = this->workers();
          std::construct_at(at, static_cast<unsigned>(i), std::span(rings_).subspan(i * count, count),
                            nodes_);
        }) {
    for (auto& each : states_.all()) this->add_worker(each);
  }

  // Destroys the keys that are left in a graph whose runtime was shut down.
  ~keyed_graph() override {
    const auto destroy = [](node* left) { left->key.~Key(); };
    for (auto& each : states_.all()) each.placed.clear(destroy);
    if (const std::unique_ptr<chains> made{unplaced_.load(std::memory_order_relaxed)}) made->clear(destroy);
    for (auto& each : states_.all())
      while (auto* const left = static_cast<node*>(each.ready.take([] {})))
        if (left->counted == counting::counters || left->counted == counting::none) destroy(left);
  }

  graph_functions<Key> functions;
  // The graph is being recorded or replayed: only observed tasks may fulfil keys.
  std::atomic<bool> being_observed{false};

  // Whether a worker that finds nothing to do takes tasks of another worker's place. Before the first task.
  void prefer_places(bool prefers) noexcept {
    this->share_places(prefers);
    for (auto& each : states_.all()) each.steps_out = this->shares_places();
  }
  [[nodiscard]] bool places_bind() const noexcept { return functions.place && !this->shares_places(); }
  // Keys without a place are counted by their numbers, which are below `keys`. Throws std::bad_alloc.
  void count_by_number(std::size_t keys) { counters_ = std::make_unique<dense_counters<>>(keys); }

  void fulfill(const Key& key) {
    if (running_on.of == this && running_on.state != nullptr) [[likely]] {
      fulfill_from(*static_cast<worker_state*>(running_on.state), key);
    } else {
      fulfill_from_elsewhere(key);
    }
  }

  // The key of a task that depends on nothing. `call`: the function that names it, in words. Throws misuse if
  // the task depends on others, negative_indegree.
  void start(const Key& key, const char* call) {
    functions.expect_complete(call);
    if (const int needed = indegree_of(key); needed != 0) [[unlikely]]
      refuse_to_start(key, needed, call);
    fulfill(key);
  }

  // As hold_end(). `call`: the function that calls it, in words. Throws misuse outside a body,
  // not_replayable.
  [[nodiscard]] held_end<>& hold_end_of_body(const char* call) {
    if (held_end<>* const held = this->hold_end()) return *held;
    if (observed.of == this || being_observed.load(std::memory_order_relaxed))
      throw_error(
          not_replayable(std::string(call) +
                         ": called while the graph is recorded or replayed, where a task ends with its "
                         "body: run the graph itself, without a recording"));
    throw_error(misuse(std::string(call) +
                       ": called outside the graph's bodies: call it in the body of the task whose end is to "
                       "wait, on the thread of that body"));
  }

 private:
  friend base;

  // ---- For task_source ----

  [[nodiscard]] worker_state& state(unsigned worker) noexcept { return *states_[worker]; }
  [[nodiscard]] bool has_priorities() const noexcept { return static_cast<bool>(functions.priority); }
  bool receive(worker_state& here) noexcept { return receive_at(here, here); }
  // Not inline: it is rare, and the loop that calls it would spill registers for it.
  [[gnu::noinline]] bool receive_outside(worker_state& here) noexcept;
  [[nodiscard]] static bool sees_messages(const worker_state& here) noexcept;
  [[nodiscard]] bool sees_outside() const noexcept { return !outside_.empty(); }
  [[nodiscard]] bool leaves_outside_alone(worker_state& here) noexcept;
  [[nodiscard]] static std::int64_t tasks_waiting(const worker_state& here) noexcept {
    return static_cast<std::int64_t>(here.placed.size()) + here.unplaced.load(std::memory_order_relaxed);
  }
  void run_body(worker_state& /*here*/, ready_node& task) { functions.body(static_cast<node&>(task).key); }
  [[nodiscard]] static unsigned ends_on(const worker_state& here, const ready_node& task) noexcept {
    return static_cast<const node&>(task).counted == counting::own_table ? here.index : any_worker;
  }
  void end(worker_state& here, ready_node& task) noexcept;
  [[nodiscard]] static bool was_taken(const ready_node& task) noexcept {
    return static_cast<const node&>(task).counted == counting::none;
  }
  [[nodiscard]] bool has_work(unsigned place) noexcept override {
    // A recording has each task on its own worker.
    if (being_observed.load(std::memory_order_relaxed)) return false;
    return states_[place]->ready.has_own() || sees_messages(*states_[place]);
  }
  void take_from(unsigned place, unsigned worker) noexcept override;

  // ---- Counting ----

  // Within a task of this graph, on the worker of `here`.
  void fulfill_from(worker_state& here, const Key& key) {
    if (this->cancelled()) [[unlikely]]
      return;
    const unsigned place = functions.place ? functions.place(key) : any_worker;
    if (place == here.inside) [[likely]] {
      count_placed(here, key);
    } else if (place == any_worker) {
      count_unplaced(here, key);
    } else if (place == here.index) {
      count_own(here, key);
    } else {
      expect_worker(key, place);
      send(here, place, key);
    }
  }
  void fulfill_from_elsewhere(const Key& key);

  [[noreturn, gnu::cold]] static void refuse_to_start(const Key& key, int needed, const char* call);
  void fail_over_fulfilled(const Key& key, int needed) noexcept;

  // Of a key that has one.
  [[nodiscard]] std::size_t number_of(const Key& key) const {
    std::size_t number = 0;
    if constexpr (std::integral<Key>)
      number = functions.number ? functions.number(key) : static_cast<std::size_t>(key);
    else
      number = functions.number(key);
    if (number >= counters_->size()) [[unlikely]]
      refuse_number(key, number);
    return number;
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_number(const Key& key, std::size_t number) const {
    throw_error(misuse("teff::task_graph: the number of the task " + key_text(key) + " is " +
                       std::to_string(number) + ", and dense() says that all are below " +
                       std::to_string(counters_->size())));
  }

  [[nodiscard]] unsigned place_of(const Key& key) {
    if (!functions.place) return any_worker;
    const unsigned place = functions.place(key);
    if (place != any_worker) expect_worker(key, place);
    return place;
  }
  void expect_worker(const Key& key, unsigned place) const {
    if (place >= this->workers()) [[unlikely]]
      refuse_place(key, place);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_place(const Key& key, unsigned place) const {
    throw_error(misuse("teff::task_graph: the place of the task " + key_text(key) + " is worker " +
                       std::to_string(place) + ", and the workers are 0 to " +
                       std::to_string(this->workers() - 1) + ": return one of these, or teff::anywhere"));
  }

  [[nodiscard]] int indegree_of(const Key& key) const {
    const int indegree = functions.indegree(key);
    if (indegree < 0) [[unlikely]]
      refuse_indegree(key, indegree);
    return indegree;
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_indegree(const Key& key, int indegree) {
    throw_error(negative_indegree("teff::task_graph: the indegree of the task " + key_text(key) + " is " +
                                  std::to_string(indegree)));
  }
  [[nodiscard]] int priority_of(const Key& key) const {
    return functions.priority ? functions.priority(key) : 0;
  }

  // Throws what the graph's functions throw, std::bad_alloc; then nothing is counted. make_placed() and
  // ready_placed() are tail calls and not inline: most fulfilments are neither a task's first nor its last,
  // and would save registers for them. The calling worker is in the place of `at`.
  void count_placed(worker_state& at, const Key& key);
  [[gnu::noinline]] void make_placed(worker_state& at, std::size_t hash, const Key& key);
  [[gnu::noinline]] void ready_placed(worker_state& at, node& task);
  [[gnu::noinline]] void count_own(worker_state& here, const Key& key);
  void count_alone(worker_state& here, const Key& key);
  void count_unplaced(worker_state& here, const Key& key);
  [[gnu::noinline]] void count_in_chains(worker_state& here, const Key& key);
  void count_numbered(worker_state& here, const Key& key);
  void settle(worker_state& here, typename chains::outcome outcome) {
    if (outcome.spare != nullptr) drop_spare(here, outcome.spare);
    while (outcome.ready != nullptr)
      this->make_ready(here, std::exchange(outcome.ready, static_cast<node*>(outcome.ready->next_in_line)));
  }
  [[gnu::noinline]] void drop_spare(worker_state& here, node* spare) noexcept;
  void send(worker_state& here, unsigned place, const Key& key);
  template <class Begin>
  void queue(unsigned place, const Key& key, Begin begin);

  bool receive_at(worker_state& here, worker_state& at) noexcept;
  void count_arrived(worker_state& at, const Key& key);
  template <class Count>
  void take_some(worker_state& here, key_inbox<Key>& from, Count count) noexcept;
  chains& unplaced();
  [[nodiscard]] std::size_t unplaced_keys() const noexcept;

  std::exception_ptr forget_waiting(bool named) override;
  void forget_placed(worker_state& here, leftovers& all);
  void forget_unplaced(leftovers& all);
  [[nodiscard]] std::string running_task_on(unsigned worker) const override;
  // A name that can't be made is left out: the graph has to be empty in any case.
  template <class Name>
  static void without_throwing(Name name) noexcept {
    catch_all(name, [] {});
  }
  void note(const node& left, leftovers& all) const;
  void note_numbered(std::size_t number, std::uint32_t missing, leftovers& all) const;

  // Fewer keys from outside than this are left to the thread that waits for the graph, as long as it takes
  // one in so many nanoseconds: it runs short tasks itself before another worker has got them.
  static constexpr std::size_t few_outside = 16;
  static constexpr std::int64_t outside_patience = 1000;
  Hash hash_;
  node_exchange<node> nodes_;
  std::vector<std::atomic<typename worker_state::ring*>> rings_;  // by reader, then by writer
  unmoved_array<worker_state> states_;
  key_inbox<Key> outside_;                      // keys without a place that no worker fulfilled
  std::atomic<chains*> unplaced_{nullptr};      // owned; made by the first thread that needs it
  std::unique_ptr<dense_counters<>> counters_;  // in its place, if keys are numbered
};

// ---- The end ----

template <class Key, class Hash>
void keyed_graph<Key, Hash>::note(const node& left, leftovers& all) const {
  ++all.count;
  if (all.names.size() == leftovers::most_names) return;
  all.names.push_back(key_text(left.key) + " (" + std::to_string(left.received) + " of " +
                      std::to_string(left.needed) + ")");
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::note_numbered(std::size_t number, std::uint32_t missing, leftovers& all) const {
  ++all.count;
  if (all.names.size() == leftovers::most_names) return;
  if constexpr (std::integral<Key>) {
    if (!functions.number) {
      const int needed = indegree_of(static_cast<Key>(number));
      all.names.push_back(std::to_string(number) + " (" + std::to_string(needed - static_cast<int>(missing)) +
                          " of " + std::to_string(needed) + ")");
      return;
    }
  }
  all.names.push_back("the one with number " + std::to_string(number) + " (" + std::to_string(missing) +
                      " missing)");
}

template <class Key, class Hash>
std::exception_ptr keyed_graph<Key, Hash>::forget_waiting(bool named) {
  leftovers all;
  {
    const typename base::visit nobody_is_inside(*this);
    for (auto& each : states_.all()) forget_placed(each, all);
    forget_unplaced(all);
  }
  return named ? all.error() : nullptr;
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::forget_placed(worker_state& here, leftovers& all) {
  here.placed.clear([&](node* left) {
    without_throwing([&] { note(*left, all); });
    here.drop_node(left);
  });
  here.unplaced.store(0, std::memory_order_relaxed);  // forget_unplaced() comes next
  this->account(here.index).waiting.store(0, std::memory_order_relaxed);
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::forget_unplaced(leftovers& all) {
  if (auto* const made = unplaced_.load(std::memory_order_acquire)) {
    node* free = nullptr;
    made->clear([&](node* left) {
      if (!left->ran.load(std::memory_order_relaxed)) without_throwing([&] { note(*left, all); });
      left->key.~Key();
      left->next = std::exchange(free, left);
    });
    // Without memory for that they lie idle until the graph is destroyed.
    if (free != nullptr) without_throwing([&] { nodes_.put(free); });
  }
  if (counters_)
    counters_->clear([&](std::size_t number, std::uint32_t missing) {
      without_throwing([&] { note_numbered(number, missing, all); });
    });
}

template <class Key, class Hash>
std::string keyed_graph<Key, Hash>::running_task_on(unsigned worker) const {
  const auto* const running = states_[worker]->running;
  return running == nullptr ? std::string() : key_text(static_cast<const node*>(running->task)->key);
}

}  // namespace teff::detail

// The other members: those that count, and those that take what others have sent.
#include <teff/detail/graph/keyed_graph_counting.hpp>
#include <teff/detail/graph/keyed_graph_receiving.hpp>
