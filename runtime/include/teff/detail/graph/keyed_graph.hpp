// The part of a task graph that depends on the type of its keys (src/graph/README.md).
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_core.hpp>
#include <teff/detail/graph/keys.hpp>
#include <teff/detail/graph/message_queue.hpp>
#include <teff/detail/scheduler/release_observer.hpp>
#include <teff/detail/scheduler/source.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::detail {

// Keys that leave room for a number in a cache line are sent by value through a ring, others by a node
// through the inbox of their place.
template <class Key>
inline constexpr bool travels_plainly =
    std::is_trivially_copyable_v<Key> && sizeof(Key) <= 56 && alignof(Key) <= alignof(std::max_align_t);

// The functions that every fulfilment calls, and those that the core needs.
template <class Key, class Hash>
class keyed_graph final : public graph_core {
  using queue = message_queue<std::conditional_t<travels_plainly<Key>, Key, char>>;

 public:
  keyed_graph(scheduler& runtime, unsigned workers)
      : graph_core(runtime, workers, shape),
        queues_(travels_plainly<Key> ? std::size_t{workers} * workers : 0) {}
  ~keyed_graph() override { drop_keys(); }

  void fulfill(const Key& key) {
    if (const auto& caller = *self.frame; caller.is_of(*this) && caller.state != nullptr) [[likely]] {
      fulfill_from(*static_cast<graph_worker*>(caller.state), key);
    } else {
      fulfill_from_elsewhere(std::addressof(key));
    }
  }
  // The key of a task that depends on nothing. `call`: the function that names it, in words. Throws misuse if
  // the task depends on others, negative_indegree.
  void start(const Key& key, const char* call) {
    expect_to_start(std::addressof(key), call);
    fulfill(key);
  }

 private:
  static constexpr key_shape shape{key_at<Key>, node_bytes<Key>, node_alignment<Key>,
                                   std::is_trivially_destructible_v<Key> ? nullptr : +[](void* key) noexcept {
                                     static_cast<Key*>(key)->~Key();
                                   }};

  static const Key& key_from(const void* key) noexcept { return *static_cast<const Key*>(key); }

  // ---- Counting ----

  // Inline in the bodies, though the core calls it, too: a call costs a nanosecond.
  [[gnu::always_inline]] inline void fulfill_from(graph_worker& caller, const Key& key) {
    if (cancelled()) [[unlikely]]
      return;
    unsigned place = any_worker;
    if (functions.place) [[likely]]
      place = functions.place(std::addressof(key));
    if (place == caller.inside) [[likely]] {
      count_in_table<true>(caller, key);
    } else if (place == any_worker) {
      count_unplaced(caller, key);
    } else if (place == caller.index) {
      count_own(caller, std::addressof(key));
    } else {
      expect_worker(std::addressof(key), place);
      send(caller, place, key);
    }
  }

  // The calling worker is in the place of `at`. Throws what the graph's functions throw, std::bad_alloc; then
  // nothing is counted. Most fulfilments are neither a task's first nor its last. So make_in_table() and
  // ready_in_table() are tail calls, and not inline: the others would save registers for them.
  template <bool Placed>
  void count_in_table(graph_worker& at, const Key& key) {
    const std::size_t hash = hash_(key);
    graph_node* const found = at.placed.find(hash, is(key));
    if (found == nullptr) return make_in_table<Placed>(at, hash, key);
    if (++found->received >= found->needed) ready_in_table<Placed>(at, *found);
  }
  template <bool Placed>
  [[gnu::noinline]] void make_in_table(graph_worker& at, std::size_t hash, const Key& key) {
    if (graph_node* const found = at.placed.find_unmoved(hash, is(key))) [[unlikely]] {
      if (++found->received >= found->needed) ready_in_table<Placed>(at, *found);
      return;
    }
    graph_node& made = make_counted(*at.pool_inside, hash, key, counting::own_table);
    made.received = 1;
    at.placed.insert(&made);
    if (made.needed == 1) ready_in_table<Placed>(at, made);
  }
  // A node of the table of `at` has received all that it needs, or more.
  template <bool Placed>
  [[gnu::noinline]] void ready_in_table(graph_worker& at, graph_node& task) {
    if (task.received > task.needed) [[unlikely]]
      return fail_over_fulfilled(std::addressof(key_of<Key>(task)), task.needed);
    if constexpr (Placed) {
      fail_if_thrown([&] { at.ready.push_own(&task); });
    } else {
      make_ready(at, &task);
    }
  }
  // Throws what the graph's functions and copying the key throw, std::bad_alloc.
  graph_node& make_counted(node_pool& from, std::size_t hash, const Key& key, counting by) const {
    const int indegree = indegree_of(std::addressof(key));
    const int priority = priority_of(std::addressof(key));
    graph_node& made = make_node(from, key);
    begin(made, hash, indegree, priority, by);
    return made;
  }
  static auto is(const Key& key) noexcept {
    return [&key](const graph_node& node) { return equal_keys(key_of<Key>(node), key); };
  }
  // Throws what copying the key throws, std::bad_alloc.
  static graph_node& make_node(node_pool& from, const Key& key, runnable_kind kind = runnable_kind::task) {
    void* const memory = from.take(node_bytes<Key>);
    undo_if_thrown([&] { new (static_cast<std::byte*>(memory) + key_at<Key>) Key(key); },
                   [&] { from.give(memory); });
    return *new (memory) graph_node(kind);
  }

  // Keys without a place where there is one worker are counted in its own table, without an atomic operation.
  [[gnu::noinline]] void count_unplaced(graph_worker& caller, const Key& key) {
    if (counts_by_number()) return count_numbered(caller, key);
    if (caller.alone) return count_in_table<false>(caller, key);
    count_in_chains(caller, hash_(key), key);
  }
  [[gnu::noinline]] void count_in_chains(graph_worker& caller, std::size_t hash, const Key& key) {
    if (!count_or_add(caller, hash, key, nullptr)) {
      // The thread holds no chain meanwhile: a function of the user's may wait, and the thread then run a
      // task that wants the chain.
      static_cast<void>(
          count_or_add(caller, hash, key, &make_counted(caller.pool, hash, key, counting::chains)));
    }
    unplaced().move_some();
  }
  // Where there is no node of the key, adds `made`. Returns false if that is null.
  bool count_or_add(graph_worker& caller, std::size_t hash, const Key& key, graph_node* made) {
    // Nodes that nobody uses any more. The worker drops them when it has given the chain back, also if == has
    // thrown.
    struct unused_nodes {
      ~unused_nodes() {
        if (made != nullptr) graph.drop_node(caller, *made);
        while (ran != nullptr) graph.drop_node(caller, *std::exchange(ran, ran->next));
      }
      keyed_graph& graph;
      graph_worker& caller;
      graph_node* made;  // or another thread has added one meanwhile
      graph_node* ran = nullptr;
    } unused{*this, caller, made};
    graph_node* task = nullptr;
    int received = 0;
    int needed = 0;
    bool is_long = false;
    {
      key_chains::held_chain chain(unplaced(), hash);
      task = chain.find(hash, is(key), unused.ran);
      if (task == nullptr && made != nullptr) {
        task = std::exchange(unused.made, nullptr);
        chain.add(task);
        caller.count_unplaced(1);
        is_long = chain.is_long();
      }
      if (task != nullptr) {
        received = ++task->received;
        needed = task->needed;
      }
    }
    if (is_long) [[unlikely]]
      unplaced().grow(unplaced_keys());
    if (task == nullptr) return false;
    if (received == needed) {
      make_ready(caller, task);
    } else if (received > needed) [[unlikely]] {
      fail_over_fulfilled(std::addressof(key), needed);
    }
    return true;
  }
  [[gnu::noinline]] void count_numbered(graph_worker& caller, const Key& key) {
    using outcome = dense_counters<>::outcome;
    const std::size_t number = number_of(key);
    const outcome now =
        counters().count(number, [&] { return indegree_of(std::addressof(key)); }, caller.alone);
    if (now == outcome::counted) return;
    if (now == outcome::waits) return caller.count_unplaced(1);
    if (now == outcome::over) [[unlikely]]
      return fail_over_fulfilled(std::addressof(key), indegree_of(std::addressof(key)));
    if (now == outcome::ready) caller.count_unplaced(-1);
    graph_node* ready = nullptr;
    fail_if_thrown([&] {
      const int priority = priority_of(std::addressof(key));
      ready = &make_node(caller.pool, key);
      begin(*ready, number, 1, priority, counting::counters);
    });
    make_ready(caller, ready);
  }
  [[nodiscard]] std::size_t number_of(const Key& key) const {
    std::size_t number = 0;
    if constexpr (std::integral<Key>)
      number = functions.number ? functions.number(std::addressof(key)) : static_cast<std::size_t>(key);
    else
      number = functions.number(std::addressof(key));
    expect_number(std::addressof(key), number);
    return number;
  }

  // ---- Messages ----

  // The messages from one worker to another.
  [[nodiscard]] queue& messages(unsigned place, unsigned writer) noexcept {
    return queues_[std::size_t{place} * workers() + writer];
  }
  [[gnu::noinline]] void send(graph_worker& caller, unsigned place, const Key& key) {
    if constexpr (!travels_plainly<Key>) {
      send_to_inbox(caller, place, std::addressof(key));
    } else {
      auto& to = messages(place, caller.index);
      // The call that can throw comes before the item begins: else the graph would wait for the item.
      to.make_room();
      account(caller.index).begin_one();
      to.send(key);
      published_to(runtime(), place);
    }
  }
  // A few messages of each writer: so their tasks run while their nodes are in the cache.
  bool receive([[maybe_unused]] graph_worker& caller, [[maybe_unused]] graph_worker& at) noexcept override {
    bool any = false;
    if constexpr (travels_plainly<Key>) {
      constexpr int few = 16;
      for (unsigned writer = 0; writer < workers(); ++writer) {
        auto& from = messages(at.index, writer);
        Key came;
        for (int i = 0; i < few && from.receive(came); ++i) {
          any = true;
          ++caller.items_received;
          try_count([&] { count_arrived(at, came); });
        }
      }
    }
    return any;
  }
  void count_arrived(graph_worker& at, const Key& key) {
    if (!functions.received || functions.received(std::addressof(key))) count_in_table<true>(at, key);
  }
  [[nodiscard]] bool sees_messages(const graph_worker& caller) const noexcept override {
    if constexpr (!travels_plainly<Key>) return false;
    const auto first = queues_.begin() + static_cast<std::ptrdiff_t>(std::size_t{caller.index} * workers());
    return std::any_of(first, first + workers(), [](const queue& each) { return each.may_have_message(); });
  }

  // ---- For the core ----

  [[nodiscard]] graph_node& sent(node_pool& from, const void* key) const override {
    return make_node(from, key_from(key), runnable_kind::key);
  }
  void count_sent(graph_worker& at, graph_node& sent, bool has_place) override {
    has_place ? count_arrived(at, key_of<Key>(sent)) : count_unplaced(at, key_of<Key>(sent));
  }
  [[nodiscard]] std::string text_of(const void* key) const override { return key_text(key_from(key)); }
  [[nodiscard]] bool passes_on(void* observer, const void* key) const override {
    return static_cast<release_observer<Key>*>(observer)->passes_on(key_from(key));
  }
  void fulfill_within(graph_worker& caller, const void* key) override { fulfill_from(caller, key_from(key)); }

  Hash hash_;
  std::vector<queue> queues_;  // of keys that travel plainly: by reader, then by writer
};

}  // namespace teff::detail
