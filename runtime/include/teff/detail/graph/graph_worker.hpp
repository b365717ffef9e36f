// What one worker keeps of a task graph.
#pragma once

#include <teff/detail/graph/key_chains.hpp>
#include <teff/detail/graph/message_ring.hpp>
#include <teff/detail/graph/node_pool.hpp>
#include <teff/detail/ready/ready_deque.hpp>
#include <teff/detail/ready/ready_heap.hpp>
#include <teff/graph_key.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::detail {

// A task that the runtime knows of, from its first fulfilment until it has run. All that while it is in a
// chain of a table, so that one fulfilment too many finds it; `next_in_line` and the key are its worker's who
// runs it.
template <class Key>
struct graph_node {
  graph_node* next = nullptr;  // in a chain, or among the free
  graph_node* next_in_line;    // among those that are ready, or that key_chains is asked to see to
  std::size_t hash;
  int received;
  int needed;
  int priority;
  bool placed;
  bool ran;  // without a place; as key_chains says
  union {
    Key key;
  };

  graph_node() noexcept {}
  ~graph_node() {}
  [[nodiscard]] bool same_key(const graph_node& other) const {
    return hash == other.hash && equal_keys(key, other.key);
  }
};

// The keys that one worker counts, which is alone in touching them.
template <class Key>
class key_table {
  using node = graph_node<Key>;

 public:
  [[nodiscard]] node* find(std::size_t hash, const Key& key) const {
    node* at = buckets_[hash & mask_];
    while (at != nullptr && !(at->hash == hash && equal_keys(at->key, key))) at = at->next;
    return at;
  }
  // Throws std::bad_alloc.
  void insert(node* added) {
    if (size_ > mask_) grow();
    auto*& bucket = bucket_of(*added);
    added->next = bucket;
    bucket = added;
    ++size_;
  }
  void erase(node* gone) noexcept {
    auto** at = &bucket_of(*gone);
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    --size_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Forgets all of them.
  template <class Each>
  void clear(Each each) {
    for (auto*& bucket : buckets_) {
      while (bucket != nullptr) each(std::exchange(bucket, bucket->next));
    }
    size_ = 0;
  }

 private:
  node*& bucket_of(const node& of) noexcept { return buckets_[of.hash & mask_]; }
  [[gnu::noinline]] void grow() {
    std::vector<node*> old(2 * buckets_.size());
    old.swap(buckets_);
    mask_ = buckets_.size() - 1;
    for (node* chain : old) {
      while (chain != nullptr) {
        node* const moved = std::exchange(chain, chain->next);
        auto*& bucket = bucket_of(*moved);
        moved->next = bucket;
        bucket = moved;
      }
    }
  }

  std::vector<node*> buckets_ = std::vector<node*>(64);
  std::size_t mask_ = 63;
  std::size_t size_ = 0;
};

// Ready tasks of one worker: the one with the highest priority first; of equal ones, the one that has been
// ready for longest.
template <class Key>
class ready_queue {
  using node = graph_node<Key>;

 public:
  // Throws std::bad_alloc.
  void push(node* task) {
    if (task->priority == 0 && heap_.empty()) {
      task->next_in_line = nullptr;
      (last_ == nullptr ? first_ : last_->next_in_line) = task;
      last_ = task;
    } else {
      push_by_priority(task);
    }
  }
  [[nodiscard]] node* pop() noexcept {
    if (first_ != nullptr) {
      node* const task = first_;
      first_ = task->next_in_line;
      if (first_ == nullptr) last_ = nullptr;
      return task;
    }
    return heap_.empty() ? nullptr : pop_by_priority();
  }
  // What pop() would give.
  [[nodiscard]] const node* front() const noexcept {
    if (first_ != nullptr) return first_;
    return heap_.empty() ? nullptr : heap_.front().task;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr && heap_.empty(); }

 private:
  struct entry {
    int priority;
    std::uint64_t order;
    node* task;
  };
  static bool later(const entry& a, const entry& b) noexcept {
    return a.priority != b.priority ? a.priority < b.priority : a.order > b.order;
  }
  // Not inline: whose priorities are 0 would save and restore registers for it.
  [[gnu::noinline]] void push_by_priority(node* task) {
    for (; first_ != nullptr; first_ = first_->next_in_line) add_to_heap(first_);
    last_ = nullptr;
    add_to_heap(task);
  }
  [[gnu::noinline]] node* pop_by_priority() noexcept {
    std::ranges::pop_heap(heap_, later);
    node* const task = heap_.back().task;
    heap_.pop_back();
    return task;
  }
  void add_to_heap(node* task) {
    heap_.push_back({task->priority, order_++, task});
    std::ranges::push_heap(heap_, later);
  }

  // While all priorities are 0: a list, first in, first out. Else a heap.
  node* first_ = nullptr;
  node* last_ = nullptr;
  std::vector<entry> heap_;
  std::uint64_t order_ = 0;
};

// Keys that come from where there is no ring: from outside the workers, or when a ring is full.
template <class Key>
class key_inbox {
 public:
  // Throws std::bad_alloc.
  void push(const Key& key) {
    const std::lock_guard lock(mutex_);
    keys_.push_back(key);
    // Release: orders nothing by itself; the lock does. The sleeper's last look is ordered by fences.
    count_.store(keys_.size(), std::memory_order_release);
  }
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
  // Up to `most` of the oldest.
  [[nodiscard]] std::vector<Key> take(std::size_t most) {
    const std::lock_guard lock(mutex_);
    const auto end = keys_.begin() + static_cast<std::ptrdiff_t>(std::min(most, keys_.size()));
    std::vector<Key> taken(std::make_move_iterator(keys_.begin()), std::make_move_iterator(end));
    keys_.erase(keys_.begin(), end);
    count_.store(keys_.size(), std::memory_order_release);
    return taken;
  }

 private:
  std::mutex mutex_;
  std::deque<Key> keys_;
  std::atomic<std::size_t> count_{0};
};

// Small keys travel as they are, others in a box.
template <class Key>
inline constexpr bool travels_plainly = std::is_trivially_copyable_v<Key> && sizeof(Key) <= 56;

template <class Key>
struct alignas(64) graph_worker {
  using node = graph_node<Key>;
  using message = std::conditional_t<travels_plainly<Key>, Key, Key*>;
  using ring = message_ring<message>;

  graph_worker(unsigned worker, unsigned workers, node_exchange<node>& nodes)
      : index(worker), pool(nodes), to(workers), from(workers) {}
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
  [[nodiscard]] node* make_node(std::size_t hash, const Key& key, int indegree, int priority) {
    node* const made = pool.take();
    try {
      new (&made->key) Key(key);
    } catch (...) {
      pool.give(made);
      throw;
    }
    made->hash = hash;
    made->received = 0;
    made->needed = std::max(indegree, 1);
    made->priority = priority;
    made->ran = false;
    return made;
  }
  void drop_node(node* gone) noexcept {
    gone->key.~Key();
    pool.give(gone);
  }

  const unsigned index;
  node_pool<node> pool;

  // The owner's own.
  key_table<Key> placed;
  ready_queue<Key> ready;        // of those placed here
  node* following = nullptr;     // not placed, and to be run next; not where there are priorities
  const Key* running = nullptr;  // of the innermost body that runs
  std::int64_t unplaced = 0;     // nodes for keys without a place: made less dropped
  std::uint64_t taken = 0;       // activities
  std::vector<ring*> to;         // by the worker that reads; theirs
  std::uint64_t random = 0x9e3779b97f4a7c15U * (index + 1);

  // What others touch.
  std::vector<std::atomic<ring*>> from;  // by the worker that writes; made by it
  key_inbox<Key> inbox;
  // Ready tasks that are not placed: the one, or where there are priorities the other.
  ready_deque<node> stealable;
  ready_heap<node> stealable_by_priority;
};

}  // namespace teff::detail
