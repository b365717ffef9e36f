// A task graph's tasks, from their first fulfilled dependence until they ran (src/graph/README.md), as far as
// the type of the keys does not matter.
#pragma once

#include <teff/detail/graph/dense_counters.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/graph/key_chains.hpp>
#include <teff/detail/graph/key_table.hpp>
#include <teff/detail/graph/node_pool.hpp>
#include <teff/detail/task_source/recycled_memory.hpp>
#include <teff/detail/task_source/task_source.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

namespace teff::detail {

// The core knows this of the type of the keys, and the virtual functions below do the rest.
struct key_shape {
  std::size_t at;  // in its node
  std::size_t node_bytes;
  std::size_t node_alignment;
  // Destroys a key. Null: a key needs no destructor.
  void (*destroy)(void* key) noexcept;
};

// The state that one worker keeps of a task graph.
struct alignas(64) graph_worker : source_worker {
  graph_worker(unsigned worker, bool is_alone, node_exchange& nodes)
      : source_worker(worker, is_alone), pool(nodes) {}

  node_pool pool;

  // Of the worker's place (src/task_source/places.md): its keys, and the pool of the worker that is in it.
  key_table placed;
  node_pool* pool_inside = &pool;

  // Used by this worker only.
  // Keys without a place that wait or whose tasks have not ended: those that this worker has begun, less
  // those that it has ended. Other workers read it to find whether the table is crowded.
  std::atomic<std::int64_t> unplaced{0};
  void count_unplaced(std::int64_t more) noexcept {
    unplaced.store(unplaced.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};

class graph_core : public task_source<graph_core, graph_worker> {
  using base = task_source<graph_core, graph_worker>;

 public:
  graph_functions functions;
  // The graph is being recorded or replayed: only observed tasks may fulfil keys.
  std::atomic<bool> being_observed{false};

  // Whether a worker that finds nothing to do takes tasks of another worker's place. Before the first task.
  void prefer_places(bool prefers) noexcept;
  [[nodiscard]] bool places_bind() const noexcept { return functions.place && !shares_places(); }
  // Keys without a place are counted by their numbers, which are below `keys`. Throws std::bad_alloc.
  void count_by_number(std::size_t keys) { counters_ = std::make_unique<dense_counters<>>(keys); }

  // As hold_end(). `call`: the function that calls it, in words. Throws misuse outside a body,
  // not_replayable.
  [[nodiscard]] held_end<>& hold_end_of_body(const char* call);

 protected:
  graph_core(scheduler& runtime, unsigned workers, const key_shape& shape);

  // In all that follows, `key` is the address of a key.

  // A fulfilment by a thread that runs no task of this graph.
  void fulfill_from_elsewhere(const void* key);
  // Throws misuse unless the indegree of the task is 0, negative_indegree.
  void expect_to_start(const void* key, const char* call) const;

  [[nodiscard]] bool counts_by_number() const noexcept { return counters_ != nullptr; }
  void expect_number(const void* key, std::size_t number) const {
    if (number >= counters_->size()) [[unlikely]]
      refuse_number(key, number);
  }
  void expect_worker(const void* key, unsigned place) const {
    if (place >= workers()) [[unlikely]]
      refuse_place(key, place);
  }
  [[nodiscard]] int indegree_of(const void* key) const {
    const int indegree = functions.indegree(key);
    if (indegree < 0) [[unlikely]]
      refuse_indegree(key, indegree);
    return indegree;
  }
  [[nodiscard]] int priority_of(const void* key) const {
    return functions.priority ? functions.priority(key) : 0;
  }

  void drop_node(graph_worker& caller, graph_node& gone) noexcept {
    destroy_key(gone);
    caller.pool.give(&gone);
  }
  // Of a node whose key was made.
  static void begin(graph_node& made, std::size_t hash, int indegree, int priority, counting by) noexcept {
    made.hash = hash;
    made.received = 0;
    made.needed = indegree > 1 ? indegree : 1;
    made.priority = priority;
    made.counted = by;
    made.ran.store(false, std::memory_order_relaxed);
  }
  [[gnu::noinline]] void count_own(graph_worker& caller, const void* key);
  [[nodiscard]] dense_counters<>& counters() noexcept { return *counters_; }

  [[nodiscard]] key_chains& unplaced() noexcept { return unplaced_; }
  // About so many keys are in it.
  [[nodiscard]] std::size_t unplaced_keys() const noexcept;

  void fail_over_fulfilled(const void* key, int needed) noexcept;

  [[gnu::noinline]] void send_to_inbox(graph_worker& caller, unsigned place, const void* key);

  // Destroys the keys that are left in a graph whose runtime was shut down. For the destructor of the derived
  // class.
  void drop_keys() noexcept;

 private:
  friend base;
  struct leftovers;

  // ---- For the derived class, which knows the type of the keys ----

  // A node that carries a key through an inbox. Throws what copying throws, std::bad_alloc.
  [[nodiscard]] virtual graph_node& sent(node_pool& from, const void* key) const = 0;
  // Counts it: in the place of `at`, or a key without a place on the worker of `at`.
  virtual void count_sent(graph_worker& at, graph_node& key, bool has_place) = 0;
  [[nodiscard]] virtual std::string text_of(const void* key) const = 0;
  // Of the release_observer of the task that runs here.
  [[nodiscard]] virtual bool passes_on(void* observer, const void* key) const = 0;
  // Within a task of this graph, on the calling worker: counts the key, or sends it.
  virtual void fulfill_within(graph_worker& caller, const void* key) = 0;
  // The calling worker is in the place of `at`, and counts what others have left in its queues. Returns
  // whether there was anything.
  virtual bool receive(graph_worker& caller, graph_worker& at) noexcept = 0;
  [[nodiscard]] virtual bool sees_messages(const graph_worker& caller) const noexcept = 0;

  // ---- For task_source ----

  [[nodiscard]] graph_worker& state(unsigned worker) noexcept { return *states_[worker]; }
  [[nodiscard]] bool has_priorities() const noexcept { return static_cast<bool>(functions.priority); }
  void accept_key(graph_worker& caller, graph_worker& at, runnable& key, bool has_place) noexcept;
  [[nodiscard]] static std::int64_t tasks_waiting(const graph_worker& caller) noexcept {
    return static_cast<std::int64_t>(caller.placed.size()) + caller.unplaced.load(std::memory_order_relaxed);
  }
  void run_body(graph_worker& /*caller*/, runnable& task) {
    functions.body(key_in(static_cast<graph_node&>(task)));
  }
  [[nodiscard]] static unsigned ends_on(const graph_worker& caller, const runnable& task) noexcept {
    return static_cast<const graph_node&>(task).counted == counting::own_table ? caller.index : any_worker;
  }
  // Hidden: else the shared library could not have it inline.
  [[gnu::visibility("hidden")]] void end(graph_worker& caller, runnable& task) noexcept;
  [[nodiscard]] static bool was_taken(const runnable& task) noexcept {
    return static_cast<const graph_node&>(task).counted == counting::none;
  }
  [[nodiscard]] bool has_work(unsigned place) noexcept override;
  void take_from(unsigned place, unsigned worker) noexcept override;

  // ---- Counting ----

  [[nodiscard]] void* key_in(graph_node& node) const noexcept {
    return reinterpret_cast<std::byte*>(&node) + shape_.at;
  }
  void destroy_key(graph_node& node) const noexcept {
    if (shape_.destroy != nullptr) shape_.destroy(key_in(node));
  }

  // ---- Errors, and the end ----

  [[noreturn, gnu::cold]] void refuse_number(const void* key, std::size_t number) const;
  [[noreturn, gnu::cold]] void refuse_place(const void* key, unsigned place) const;
  [[noreturn, gnu::cold]] void refuse_indegree(const void* key, int indegree) const;
  std::exception_ptr forget_waiting(bool named) override;
  [[nodiscard]] std::string running_task_on(unsigned worker) const override;

  const key_shape shape_;
  node_exchange nodes_;
  std::mutex outside_;              // of threads that are no workers of the runtime
  node_pool outside_pool_{nodes_};  // their nodes
  unmoved_array<graph_worker> states_;
  key_chains unplaced_;
  std::unique_ptr<dense_counters<>> counters_;  // in its place, if keys are numbered
};

extern template class task_source<graph_core, graph_worker>;  // src/graph/counting.cpp

}  // namespace teff::detail
