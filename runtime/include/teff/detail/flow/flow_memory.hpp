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

template <std::size_t Bytes>
struct alignas(64) flow_block {
  flow_block* next = nullptr;
  std::byte rest[Bytes - sizeof(void*)];
};

struct flow_exchange {
  node_exchange<flow_block<192>> small;
  node_exchange<flow_block<384>> middle;
  node_exchange<flow_block<576>> large;
  node_exchange<flow_block<832>> loop;  // a worksharing task on a few workers
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
      return small_.take();
    }
    if (bytes <= 384) {
      bytes = 384;
      return middle_.take();
    }
    if (bytes <= 576) {
      bytes = 576;
      return large_.take();
    }
    if (bytes <= 832) {
      bytes = 832;
      return loop_.take();
    }
    return ::operator new(bytes, alignment);
  }
  void give(void* block, std::uint32_t bytes) noexcept {
    if (!flow_keeps_blocks) return ::operator delete(block, alignment);
    if (bytes == 192) return small_.give(static_cast<flow_block<192>*>(block));
    if (bytes == 384) return middle_.give(static_cast<flow_block<384>*>(block));
    if (bytes == 576) return large_.give(static_cast<flow_block<576>*>(block));
    if (bytes == 832) return loop_.give(static_cast<flow_block<832>*>(block));
    ::operator delete(block, alignment);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  node_pool<flow_block<192>> small_;
  node_pool<flow_block<384>> middle_;
  node_pool<flow_block<576>> large_;
  node_pool<flow_block<832>> loop_;
};

}  // namespace teff::detail
