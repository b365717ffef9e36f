// The state that one worker keeps of a task graph.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/key_inbox.hpp>
#include <teff/detail/graph/key_table.hpp>
#include <teff/detail/graph/node_pool.hpp>
#include <teff/detail/task_source/source_worker.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace teff::detail {

// Small keys are sent by value, others are allocated and sent by their address.
template <class Key>
inline constexpr bool travels_plainly = std::is_trivially_copyable_v<Key> && sizeof(Key) <= 56;

template <class Key>
struct alignas(64) graph_worker : source_worker {
  using node = graph_node<Key>;
  using message = std::conditional_t<travels_plainly<Key>, Key, Key*>;
  using ring = message_ring<message>;

  graph_worker(unsigned worker, std::span<std::atomic<ring*>> rings_from, node_exchange<node>& nodes)
      : source_worker(worker, rings_from.size() == 1), pool(nodes), from(rings_from) {}
  graph_worker(const graph_worker&) = delete;
  graph_worker& operator=(const graph_worker&) = delete;
  ~graph_worker() {
    message left;
    for (auto& each : from) {
      auto* const source = each.load(std::memory_order_acquire);
      if constexpr (!travels_plainly<Key>) {
        while (source != nullptr && source->receive(left)) delete left;
      }
      delete source;
    }
  }

  // Throws what copying the key throws, std::bad_alloc.
  [[nodiscard]] static node* make_node(node_pool<node>& from, std::size_t hash, const Key& key, int indegree,
                                       int priority) {
    node* const made = from.take();
    undo_if_thrown([&] { ::new (static_cast<void*>(std::addressof(made->key))) Key(key); },
                   [&] { from.give(made); });
    made->hash = hash;
    made->received = 0;
    made->needed = std::max(indegree, 1);
    made->priority = priority;
    made->ended = false;
    made->ran.store(false, std::memory_order_relaxed);
    return made;
  }
  [[nodiscard]] node* make_node(std::size_t hash, const Key& key, int indegree, int priority) {
    return make_node(pool, hash, key, indegree, priority);
  }
  void drop_node(node* gone) noexcept {
    gone->key.~Key();
    pool.give(gone);
  }

  node_pool<node> pool;

  // Of the worker's place (src/task_source/places.md): its keys, and the pool of the worker that is in it.
  key_table<Key> placed;
  node_pool<node>* pool_inside = &pool;

  // Used by this worker only.
  // Nodes for keys without a place: made, less those that have run or were merged with others. A worker reads
  // it to find whether the table is crowded.
  std::atomic<std::int64_t> unplaced{0};
  void count_unplaced(std::int64_t more) noexcept {
    unplaced.store(unplaced.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  // How often the keys from outside had changed when it saw them last, and since when.
  std::uint32_t outside_seen = 0;
  std::int64_t outside_since = 0;

  // Used by other workers, too.
  const std::span<std::atomic<ring*>> from;  // by the worker that writes, which makes the ring
  key_inbox<Key> inbox;
};

}  // namespace teff::detail
