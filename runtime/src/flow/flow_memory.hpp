// Memory for the tasks of a flow: pools of blocks of a few sizes for each thread that makes or ends tasks.
#pragma once

#include <teff/detail/graph/node_pool.hpp>
#include <teff/detail/task_source/recycled_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace teff::detail {

struct flow_exchange {
  static constexpr std::size_t sizes[] = {192, 384, 576,
                                          832};  // the last: worksharing tasks on a few workers
  node_exchange of[4] = {{sizes[0], 64}, {sizes[1], 64}, {sizes[2], 64}, {sizes[3], 64}};
};

// One thread at a time uses it. A thread may give a block to another pool of the same exchange.
class flow_pool {
 public:
  explicit flow_pool(flow_exchange& others)
      : pools_{node_pool(others.of[0]), node_pool(others.of[1]), node_pool(others.of[2]),
               node_pool(others.of[3])} {}

  static constexpr std::uint8_t from_heap = 4;
  static constexpr std::uint8_t in_memo = 5;  // no block of a pool
  // The number of the pool of such blocks, or from_heap.
  [[nodiscard]] static constexpr std::uint8_t kind_for(std::size_t bytes) noexcept {
    std::uint8_t kind = keeps_blocks ? 0 : from_heap;
    while (kind != from_heap && bytes > flow_exchange::sizes[kind]) ++kind;
    return kind;
  }
  // A block of `bytes` at least. `kind`: that for so many bytes. Throws std::bad_alloc.
  [[nodiscard]] void* take(std::size_t bytes, std::uint8_t kind) {
    void* block = nullptr;
    // The compiler sees the size of each pool's blocks.
    const bool taken = [&]<std::size_t... Kind>(std::index_sequence<Kind...>) {
      return ((kind == Kind && (block = pools_[Kind].take(flow_exchange::sizes[Kind]), true)) || ...);
    }(std::make_index_sequence<from_heap>());
    return taken ? block : ::operator new(bytes, alignment);
  }
  void give(void* block, std::uint8_t kind) noexcept {
    kind == from_heap ? ::operator delete(block, alignment) : pools_[kind].give(block);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  node_pool pools_[4];
};

}  // namespace teff::detail
