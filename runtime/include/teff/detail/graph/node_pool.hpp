// Memory for the nodes of a task graph: a free list for each worker, and one exchange through which they pass
// on nodes that one of them has too many of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace teff::detail {

// What the workers share. Touched once for `batch` nodes at most, and never waited for.
template <class Node>
class node_exchange {
 public:
  static constexpr std::size_t batch = 64;

  struct fetched {
    Node* first;
    std::size_t nodes;  // or more
  };
  // Returns nodes that no pool holds. Throws std::bad_alloc.
  fetched take() {
    std::size_t size = batch;
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
      if (!batches_.empty()) {
        Node* const first = batches_.back();
        batches_.pop_back();
        return {first, batch};
      }
      size = std::exchange(next_slab_, std::min(2 * next_slab_, batch));
    }
    auto slab = std::make_unique_for_overwrite<Node[]>(size);
    for (std::size_t i = 0; i + 1 < size; ++i) slab[i].next = &slab[i + 1];
    const std::lock_guard lock(mutex_);
    reserve_batch();
    slabs_.push_back(std::move(slab));
    return {slabs_.back().get(), size};
  }

  // Takes a chain of `batch` nodes or more back. Returns false, and takes nothing, if another worker uses the
  // exchange.
  [[nodiscard]] bool give(Node* chain) noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) batches_.push_back(chain);
    return lock.owns_lock();
  }
  // The same for any chain. Throws std::bad_alloc.
  void put(Node* chain) {
    const std::lock_guard lock(mutex_);
    reserve_batch();
    batches_.push_back(chain);
  }

 private:
  // So that give() need not: a batch that it is given has as many nodes as the largest slab, or more.
  void reserve_batch() {
    if (++most_batches_ > batches_.capacity()) batches_.reserve(2 * most_batches_);
  }

  std::mutex mutex_;
  std::vector<Node*> batches_;
  std::vector<std::unique_ptr<Node[]>> slabs_;
  std::size_t most_batches_ = 0;
  std::size_t next_slab_ = 8;  // nodes: a small graph needs few
};

// One worker's. A node may be taken from one pool and given to another.
template <class Node>
class node_pool {
 public:
  explicit node_pool(node_exchange<Node>& others) noexcept : exchange_(others) {}

  // Throws std::bad_alloc.
  [[nodiscard]] Node* take() {
    if (free_ == nullptr) fetch();
    Node* const node = free_;
    free_ = node->next;
    if (count_ != 0) --count_;
    // Another worker may have written the next node: its lines come here while this one is filled. Integers,
    // as there may be no next node, and an offset from a null pointer is undefined; a prefetch of any address
    // is not.
    const auto next = reinterpret_cast<std::uintptr_t>(free_);
    for (std::size_t at = 0; at < sizeof(Node); at += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(next + at), 1);
    return node;
  }

  void give(Node* node) noexcept {
    // A full batch is kept, so that a pool which alternates between giving and taking does not go to the
    // exchange.
    if (count_ >= node_exchange<Node>::batch) put_aside();
    node->next = free_;
    free_ = node;
    ++count_;
  }

 private:
  // Not inline, as they are rare.
  [[gnu::noinline]] void fetch() {
    if (full_ != nullptr) {
      free_ = std::exchange(full_, nullptr);
      count_ = node_exchange<Node>::batch;
    } else {
      const auto [first, nodes] = exchange_.take();
      free_ = first;
      count_ = nodes;
    }
  }
  [[gnu::noinline]] void put_aside() noexcept {
    if (full_ != nullptr && !exchange_.give(full_)) return;
    full_ = std::exchange(free_, nullptr);
    count_ = 0;
  }

  node_exchange<Node>& exchange_;
  Node* free_ = nullptr;  // `count_` nodes or more
  Node* full_ = nullptr;  // null, or a batch or more
  std::size_t count_ = 0;
};

}  // namespace teff::detail
