// Memory for the nodes of a task graph: a free list for each worker, and one exchange through which they pass
// on nodes that one of them has too many of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace teff::detail {

// A node that is free: its bytes begin with the link to the next one.
struct free_node {
  free_node* next;
};

// The first of a chain of nodes that the exchange has.
struct free_batch : free_node {
  free_batch* next_batch;
};

// The workers share it, for nodes of one size. A worker touches it once for `batch` nodes at most, and never
// waits for it.
class node_exchange {
 public:
  static constexpr std::size_t batch = 64;

  // `bytes`: a multiple of `alignment`, enough for a free_batch.
  node_exchange(std::size_t bytes, std::size_t alignment) noexcept
      : bytes_(bytes), alignment_(std::align_val_t{alignment}) {}
  ~node_exchange();

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  struct fetched {
    free_node* first;
    std::size_t nodes;  // or more
  };
  // Returns nodes that no pool holds. Throws std::bad_alloc.
  fetched take();
  // Takes a chain of `batch` nodes or more back. Returns false, and takes nothing, if another worker uses the
  // exchange.
  [[nodiscard]] bool give(free_node* chain) noexcept;

 private:
  const std::size_t bytes_;
  const std::align_val_t alignment_;
  std::mutex mutex_;
  free_batch* batches_ = nullptr;
  std::vector<void*> slabs_;
  std::size_t next_slab_ = 8;  // nodes: a small graph needs few
};

// One worker's. A node may be taken from one pool and given to another.
class node_pool {
 public:
  explicit node_pool(node_exchange& others) noexcept : exchange_(others) {}

  // `bytes`: the exchange's. Throws std::bad_alloc.
  [[nodiscard]] void* take(std::size_t bytes) {
    if (free_ == nullptr) fetch();
    free_node* const node = free_;
    free_ = node->next;
    --count_;
    // Another worker may have written the next node: its lines come here while this one is filled. Integers,
    // as there may be no next node, and an offset from a null pointer is undefined; a prefetch of any address
    // is not.
    const auto next = reinterpret_cast<std::uintptr_t>(free_);
    for (std::size_t at = 0; at < bytes; at += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(next + at), 1);
    return node;
  }

  void give(void* node) noexcept {
    // A full batch is kept, so that a pool which alternates between giving and taking does not go to the
    // exchange.
    if (std::cmp_greater_equal(count_, node_exchange::batch)) put_aside();
    free_ = new (node) free_node{free_};
    ++count_;
  }

 private:
  // Not inline, as they are rare.
  [[gnu::noinline]] void fetch();
  [[gnu::noinline]] void put_aside() noexcept;

  node_exchange& exchange_;
  free_node* free_ = nullptr;  // `count_` nodes or more
  free_node* full_ = nullptr;  // null, or a batch or more
  std::ptrdiff_t count_ = 0;   // negative: the pool has taken from the nodes that a batch had more
};

}  // namespace teff::detail
