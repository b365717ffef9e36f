// Memory for the nodes of a task graph: a free list for each worker, and one exchange through which they pass
// on nodes that one of them has too many of.
#pragma once

#include <cstddef>
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

  // Returns a chain of `batch` nodes or more that no pool holds. Throws std::bad_alloc.
  Node* take() {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && !batches_.empty()) {
      Node* const chain = batches_.back();
      batches_.pop_back();
      return chain;
    }
    auto slab = std::make_unique<Node[]>(batch);
    for (std::size_t i = 0; i + 1 < batch; ++i) slab[i].next = &slab[i + 1];
    const std::lock_guard lock(mutex_);
    slabs_.push_back(std::move(slab));
    batches_.reserve(batches_.capacity() + 1);  // so that give() need not: a batch is a slab or more
    return slabs_.back().get();
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
    batches_.reserve(batches_.capacity() + 1);
    batches_.push_back(chain);
  }

 private:
  std::mutex mutex_;
  std::vector<Node*> batches_;
  std::vector<std::unique_ptr<Node[]>> slabs_;
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
    free_ = full_ != nullptr ? std::exchange(full_, nullptr) : exchange_.take();
    count_ = node_exchange<Node>::batch;
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
