// A task graph's tasks, from their first fulfilled dependence until they ran (src/graph/README.md).
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/dense_counters.hpp>
#include <teff/detail/graph/graph_core.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/graph/graph_worker.hpp>
#include <teff/detail/graph/key_chains.hpp>
#include <teff/detail/graph/key_text.hpp>
#include <teff/detail/graph/unmoved_array.hpp>
#include <teff/detail/ready/ready_group.hpp>
#include <teff/detail/scheduler/release_observer.hpp>
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

// Of the task that the calling thread runs: its graph, and what its worker keeps of that graph (a
// graph_worker).
struct running_graph {
  const graph_core* graph = nullptr;
  void* state = nullptr;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local running_graph running_on;

template <class Key, class Hash>
class keyed_graph final : public graph_core {
  using worker_state = graph_worker<Key>;
  using node = graph_node<Key>;
  using chains = key_chains<node>;

 public:
  keyed_graph(scheduler& runtime, unsigned workers)
      : graph_core(runtime, workers),
        rings_(std::size_t{workers} * workers),
        states_(workers,
                [this](worker_state* at, std::size_t i) {
                  const std::size_t count = this->workers();
                  std::construct_at(at, static_cast<unsigned>(i), std::span(rings_).subspan(i * count, count),
                                    first_tasks_a_run, nodes_);
                }),
        ready_(workers) {
    for (auto& each : states_.all()) ready_.add(each.ready);
  }

  // Destroys the keys that are left in a graph whose runtime was shut down.
  ~keyed_graph() override {
    const auto destroy = [](node* left) { left->key.~Key(); };
    for (auto& each : states_.all()) each.placed.clear(destroy);
    if (const std::unique_ptr<chains> made{unplaced_.load(std::memory_order_relaxed)}) made->clear(destroy);
    if (counters_) {
      for (auto& each : states_.all())
        while (auto* const left = static_cast<node*>(each.ready.take([] {})))
          if (left->counted == counting::counters) destroy(left);
    }
  }

  graph_functions<Key> functions;
  // Its workers have to look elsewhere soon, say for messages of other ranks: run() returns as soon as there
  // is no task, and after a while else.
  bool looks_elsewhere = false;
  // The graph is being recorded or replayed: only observed tasks may fulfil keys.
  std::atomic<bool> being_observed{false};

  // Keys without a place are counted by their numbers, which are below `keys`. Throws std::bad_alloc.
  void count_by_number(std::size_t keys) { counters_ = std::make_unique<dense_counters<>>(keys); }

  void fulfill(const Key& key) {
    if (running_on.graph == this) [[likely]] {
      fulfill_from(*static_cast<worker_state*>(running_on.state), key);
    } else {
      fulfill_from_elsewhere(key);
    }
  }

  bool run(unsigned worker) noexcept override;
  bool sees_work(unsigned worker) noexcept override;
  bool invites(unsigned worker) noexcept override;
  bool run_own(unsigned worker) noexcept override;
  bool sees_own_work(unsigned worker) noexcept override;
  void begin_child() noexcept override {
    graph_core::begin_child();
    running_on = {};
  }

 private:
  // Within a task of this graph, on the worker of `here`.
  void fulfill_from(worker_state& here, const Key& key) {
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
    return place < workers() || place == any_worker ? place : place % workers();
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
  // and would save registers for them.
  void count_placed(worker_state& here, const Key& key);
  [[gnu::noinline]] void make_placed(worker_state& here, std::size_t hash, const Key& key);
  [[gnu::noinline]] void ready_placed(worker_state& here, node& task);
  void count_alone(worker_state& here, const Key& key);
  void count_unplaced(worker_state& here, const Key& key);
  [[gnu::noinline]] void count_in_chains(worker_state& here, const Key& key);
  void count_numbered(worker_state& here, const Key& key);
  [[gnu::noinline]] void ready_numbered(worker_state& here, const Key& key);
  void share_numbered(worker_state& here, const Key& key, int priority);
  template <class MakeReady>
  void fail_if_thrown(MakeReady make_ready);
  void settle(worker_state& here, typename chains::outcome outcome) {
    if (outcome.spare != nullptr) drop_spare(here, outcome.spare);
    while (outcome.ready != nullptr)
      ready_unplaced(here, std::exchange(outcome.ready, static_cast<node*>(outcome.ready->next_in_line)));
  }
  [[gnu::noinline]] void drop_spare(worker_state& here, node* spare) noexcept;
  void ready_unplaced(worker_state& here, ready_node* ready);
  void share(worker_state& here, ready_node* ready);
  [[nodiscard]] bool keeps_next(const worker_state& here) const noexcept {
    return here.running != nullptr || here.runs_what_it_receives;
  }
  void compare_kept(worker_state& here) noexcept;
  void send(worker_state& here, unsigned place, const Key& key);

  void count_arrived(worker_state& here, const Key& key);
  bool receive(worker_state& here) noexcept;
  template <class Count>
  void take_some(worker_state& here, key_inbox<Key>& from, Count count) noexcept;
  // Not inline: it is rare, and the loop that calls it would spill registers for it.
  [[gnu::noinline]] bool receive_outside(worker_state& here) noexcept;
  [[nodiscard]] bool leaves_outside_alone(worker_state& here) noexcept;
  template <class Count>
  void try_count(Count count) noexcept;
  node* find_task(worker_state& here) noexcept;
  void execute(worker_state& here, node* task) noexcept;
  void execute_kept(worker_state& here) noexcept;
  void share_kept(worker_state& here) noexcept;
  void leave_core(worker_state& here) noexcept;
  void call_body(worker_state& here, const Key& key) noexcept;
  bool run_next(worker_state& here) noexcept;
  [[nodiscard]] static unsigned next_tasks_a_run(unsigned tasks, std::int64_t took, unsigned most) noexcept;
  [[nodiscard]] std::uint64_t items_taken(const worker_state& here) const noexcept {
    return here.messages_taken + here.ready.shared_taken();
  }
  void say_ended(worker_state& here) noexcept;
  void settle_items(worker_state& here) noexcept;
  // A body of this graph may have called fork() and returned in the child process, where threads of the
  // parent hold the locks: asked before a lock is taken. The child has found the graph cancelled.
  void leave_if_forked() const noexcept {
    if (cancelled()) [[unlikely]]
      leave_if_child(runtime());
  }
  chains& unplaced();
  [[nodiscard]] std::size_t unplaced_keys() const noexcept;

  void forget_placed(unsigned worker, leftovers& all) override;
  void forget_unplaced(leftovers& all) override;
  [[nodiscard]] std::string running_key(unsigned worker) const override;
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
  // After so many tasks, or so many looks without finding one, run() returns: there may be other work.
  static constexpr unsigned tasks_a_run = 256;
  static constexpr unsigned looks_a_run = 128;
  // After so many looks in vain it looks whether the graph rests.
  static constexpr unsigned looks_between_rests = 16;
  // Where there is another source, after so many nanoseconds of tasks, about: as often as that is worth its
  // cost.
  static constexpr std::int64_t time_a_run = 2000;
  static constexpr unsigned first_tasks_a_run = 8;  // while nothing is known of how long they take
  // Of equal priority, before it looks for messages (src/graph/README.md).
  static constexpr unsigned tasks_between_looks = 8;

  Hash hash_;
  node_exchange<node> nodes_;
  std::vector<std::atomic<typename worker_state::ring*>> rings_;  // by reader, then by writer
  unmoved_array<worker_state> states_;
  ready_group ready_;
  key_inbox<Key> outside_;                      // keys without a place that no worker fulfilled
  std::atomic<chains*> unplaced_{nullptr};      // owned; made by the first who needs it
  std::unique_ptr<dense_counters<>> counters_;  // in its place, if keys are numbered
};

// ---- The end ----

template <class Key, class Hash>
void keyed_graph<Key, Hash>::note(const node& left, leftovers& all) const {
  ++all.count;
  if (all.names.size() == most_names) return;
  all.names.push_back(key_text(left.key) + " (" + std::to_string(left.received) + " of " +
                      std::to_string(left.needed) + ")");
}

template <class Key, class Hash>
void keyed_graph<Key, Hash>::note_numbered(std::size_t number, std::uint32_t missing, leftovers& all) const {
  ++all.count;
  if (all.names.size() == most_names) return;
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
void keyed_graph<Key, Hash>::forget_placed(unsigned worker, leftovers& all) {
  auto& here = *states_[worker];
  here.placed.clear([&](node* left) {
    without_throwing([&] { note(*left, all); });
    here.drop_node(left);
  });
  here.unplaced.store(0, std::memory_order_relaxed);  // forget_unplaced() comes next
  account(worker).waiting.store(0, std::memory_order_relaxed);
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
std::string keyed_graph<Key, Hash>::running_key(unsigned worker) const {
  const auto* const key = states_[worker]->running;
  return key == nullptr ? std::string() : key_text(*key);
}

}  // namespace teff::detail

// The other members: those that count, and those by which a worker runs what is ready.
#include <teff/detail/graph/keyed_graph_counting.hpp>
#include <teff/detail/graph/keyed_graph_running.hpp>
