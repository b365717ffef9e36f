#include <teff/detail/platform/recycled_memory.hpp>

#include <array>
#include <new>
#include <utility>

namespace teff::detail {

namespace {

constexpr std::size_t unit = 128;
constexpr std::align_val_t alignment{unit};
constexpr std::size_t most_bytes = std::size_t{8} << 10;

constexpr std::size_t units_of(std::size_t bytes) noexcept {
  return (bytes + unit - 1) / unit;
}

// The blocks that a thread has given back: a list for each number of units, the newest first.
class kept_blocks {
 public:
  void* take(std::size_t units) noexcept {
    auto& newest = lists_[units];
    return newest == nullptr ? nullptr : std::exchange(newest, newest->next);
  }
  // Whether it has room for the block.
  [[nodiscard]] bool keep(void* memory, std::size_t units) noexcept {
    static thread_local const at_end_of_thread end{*this};
    static_cast<void>(end);
    auto& newest = lists_[units];
    const auto total = units + (newest == nullptr ? 0 : newest->total);
    if (ended_ || total > most_units_of_a_list) return false;
    newest = ::new (memory) block{newest, total};
    return true;
  }

 private:
  static constexpr std::size_t most_units_of_a_list = 512;

  struct block {
    block* next;
    std::size_t total;  // units of this block and the older ones
  };
  struct at_end_of_thread {
    kept_blocks& of;
    ~at_end_of_thread() {
      of.ended_ = true;  // graphs of static storage may be dropped later
      for (auto& newest : of.lists_) {
        while (newest != nullptr) ::operator delete(std::exchange(newest, newest->next), alignment);
      }
    }
  };

  std::array<block*, units_of(most_bytes) + 1> lists_{};
  bool ended_ = false;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local kept_blocks of_this_thread;

}  // namespace

void* take_recycled(std::size_t bytes) {
  const auto units = units_of(bytes);
  if (keeps_blocks && bytes <= most_bytes) {
    if (void* const again = of_this_thread.take(units)) return again;
  }
  return ::operator new(units * unit, alignment);
}

void give_recycled(void* memory, std::size_t bytes) noexcept {
  if (!keeps_blocks || bytes > most_bytes || !of_this_thread.keep(memory, units_of(bytes)))
    ::operator delete(memory, alignment);
}

}  // namespace teff::detail
