// Memory for the tasks of a flow: pools of blocks of a few sizes for each thread that makes or ends tasks.
#pragma once

#include <teff/detail/graph/node_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace teff::detail {

// Without pools, AddressSanitizer finds the use of a task that is gone.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool flow_keeps_blocks = false;
#elif defined(__has_feature)
inline constexpr bool flow_keeps_blocks = !__has_feature(address_sanitizer);
#else
inline constexpr bool flow_keeps_blocks = true;
#endif

struct flow_exchange {
  node_exchange small{192, 64};
  node_exchange middle{384, 64};
  node_exchange large{576, 64};
  node_exchange loop{832, 64};  // a worksharing task on a few workers
};

// One thread at a time uses it. A thread may give a block to another pool of the same exchange.
class flow_pool {
 public:
  explicit flow_pool(flow_exchange& others)
      : small_(others.small), middle_(others.middle), large_(others.large), loop_(others.loop) {}

  [[nodiscard]] static constexpr flow_block_kind kind_for(std::size_t bytes) noexcept {
    if (!flow_keeps_blocks || bytes > 832) return flow_block_kind::alone;
    if (bytes > 576) return flow_block_kind::loop;
    if (bytes > 384) return flow_block_kind::large;
    return bytes > 192 ? flow_block_kind::middle : flow_block_kind::small;
  }
  // A block of `bytes` at least. `kind`: that for so many bytes. Throws std::bad_alloc.
  [[nodiscard]] void* take(std::size_t bytes, flow_block_kind kind) {
    switch (kind) {
      case flow_block_kind::small:
        return small_.take(192);
      case flow_block_kind::middle:
        return middle_.take(384);
      case flow_block_kind::large:
        return large_.take(576);
      case flow_block_kind::loop:
        return loop_.take(832);
      case flow_block_kind::alone:
        break;
    }
    return ::operator new(bytes, alignment);
  }
  void give(void* block, flow_block_kind kind) noexcept {
    switch (kind) {
      case flow_block_kind::small:
        return small_.give(block);
      case flow_block_kind::middle:
        return middle_.give(block);
      case flow_block_kind::large:
        return large_.give(block);
      case flow_block_kind::loop:
        return loop_.give(block);
      case flow_block_kind::alone:
        break;
    }
    ::operator delete(block, alignment);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  node_pool small_;
  node_pool middle_;
  node_pool large_;
  node_pool loop_;
};

}  // namespace teff::detail
