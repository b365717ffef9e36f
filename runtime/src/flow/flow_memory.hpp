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

  // Returns a block of at least `bytes`, and sets `bytes` to its size. Throws std::bad_alloc.
  [[nodiscard]] void* take(std::uint32_t& bytes) {
    if (!flow_keeps_blocks) return ::operator new(bytes, alignment);
    if (bytes <= 192) {
      bytes = 192;
      return small_.take(192);
    }
    if (bytes <= 384) {
      bytes = 384;
      return middle_.take(384);
    }
    if (bytes <= 576) {
      bytes = 576;
      return large_.take(576);
    }
    if (bytes <= 832) {
      bytes = 832;
      return loop_.take(832);
    }
    return ::operator new(bytes, alignment);
  }
  void give(void* block, std::uint32_t bytes) noexcept {
    if (!flow_keeps_blocks) return ::operator delete(block, alignment);
    if (bytes == 192) return small_.give(block);
    if (bytes == 384) return middle_.give(block);
    if (bytes == 576) return large_.give(block);
    if (bytes == 832) return loop_.give(block);
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
