// A stack besides the threads' own, to call functions on.
#pragma once

#include <cstddef>

namespace teff::detail {

// Any thread may call a function on it, one at a time. It is a plain call: the function runs on the calling
// thread, and what called it lies on that thread's own stack.
class call_stack {
 public:
  // Whether calls on other stacks are known for this processor. If not, no stack can be made.
  static const bool available;

  // Reserves `size` bytes, which take memory as they are used, and below them a page that faults. Throws
  // std::system_error.
  explicit call_stack(std::size_t size);
  ~call_stack();
  call_stack(const call_stack&) = delete;
  call_stack& operator=(const call_stack&) = delete;

  // Returns when function(argument) has returned.
  void call(void (*function)(void*) noexcept, void* argument) noexcept;
  [[nodiscard]] const std::byte* middle() const noexcept { return bottom_ + size_ / 2; }
  [[nodiscard]] const std::byte* bottom() const noexcept { return bottom_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // So many bytes below the bottom fault.
  [[nodiscard]] std::size_t guard() const noexcept { return guard_; }

 private:
  std::size_t size_;
  std::size_t guard_;
  void* memory_ = nullptr;
  std::byte* bottom_ = nullptr;
};

}  // namespace teff::detail
