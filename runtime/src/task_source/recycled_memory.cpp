#include <teff/detail/task_source/recycled_memory.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace teff::detail {

namespace {

constexpr std::align_val_t alignment{128};
constexpr std::size_t most_bytes = std::size_t{8} << 10;

struct block {
  void* memory;
  std::size_t bytes;
};

// The blocks that a thread has given back, the newest last.
class kept_blocks {
 public:
  void* take(std::size_t bytes) noexcept {
    for (auto i = count_; i-- > 0;) {
      if (blocks_[i].bytes != bytes) continue;
      return std::exchange(blocks_[i], blocks_[--count_]).memory;
    }
    return nullptr;
  }
  // What it has no room for.
  void* keep(void* memory, std::size_t bytes) noexcept {
    if (ended_) return memory;
    static thread_local const at_end_of_thread end{*this};
    static_cast<void>(end);
    if (count_ < blocks_.size()) {
      blocks_[count_++] = {memory, bytes};
      return nullptr;
    }
    std::rotate(blocks_.begin(), blocks_.begin() + 1, blocks_.end());
    return std::exchange(blocks_.back(), {memory, bytes}).memory;
  }

 private:
  struct at_end_of_thread {
    kept_blocks& of;
    ~at_end_of_thread() {
      of.ended_ = true;  // graphs of static storage may be dropped later
      while (of.count_ != 0) ::operator delete(of.blocks_[--of.count_].memory, alignment);
    }
  };

  std::array<block, 8> blocks_{};
  std::size_t count_ = 0;
  bool ended_ = false;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local kept_blocks of_this_thread;

}  // namespace

void* take_recycled(std::size_t bytes) {
  if (keeps_blocks && bytes <= most_bytes) {
    if (void* const again = of_this_thread.take(bytes)) return again;
  }
  return ::operator new(bytes, alignment);
}

void give_recycled(void* memory, std::size_t bytes) noexcept {
  if (keeps_blocks && bytes <= most_bytes) memory = of_this_thread.keep(memory, bytes);
  if (memory != nullptr) ::operator delete(memory, alignment);
}

}  // namespace teff::detail
