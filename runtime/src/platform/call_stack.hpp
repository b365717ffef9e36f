// A stack besides the threads' own, to call functions on.
#pragma once

#include "platform/guarded_memory.hpp"

#include <cstddef>

namespace teff::detail {

// Any thread may call a function on it, one at a time. It is a plain call: the function runs on the calling
// thread, and what called it lies on that thread's own stack.
class call_stack {
 public:
  // Whether calls on other stacks are known for this processor. If not, no stack can be made.
  static const bool available;

  // Of `size` bytes. Throws std::system_error.
  explicit call_stack(std::size_t size);

  // Returns when function(argument) has returned.
  void call(void (*function)(void*) noexcept, void* argument) noexcept;
  [[nodiscard]] const guarded_memory& memory() const noexcept { return memory_; }

 private:
  const guarded_memory memory_;
};

}  // namespace teff::detail
