// Memory of small graphs, which the next one uses again. To ask the C library for blocks that begin at a
// cache line, and to give them back, would be half of what it costs to make a graph of a few tasks and to
// drop it.
#pragma once

#include <cstddef>

namespace teff::detail {

// A block that begins at an address where any of this library's types may lie: if it is small, one that the
// thread has given back. Throws std::bad_alloc.
[[nodiscard]] void* take_recycled(std::size_t bytes);
// The block that take_recycled() returned for so many bytes, on any thread.
void give_recycled(void* block, std::size_t bytes) noexcept;

template <class T>
struct recycling_allocator {
  using value_type = T;

  recycling_allocator() = default;
  template <class Other>
  recycling_allocator(const recycling_allocator<Other>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 128);
    return static_cast<T*>(take_recycled(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { give_recycled(block, count * sizeof(T)); }

  template <class Other>
  friend bool operator==(const recycling_allocator& /*a*/, const recycling_allocator<Other>& /*b*/) noexcept {
    return true;
  }
};

}  // namespace teff::detail
