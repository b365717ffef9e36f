// Memory of small graphs, which the next graph uses again. A graph of a few tasks asks for blocks that begin
// at a cache line. With blocks of the C library, half of the time of such a graph would go there.
#pragma once

#include <teff/detail/exceptions.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace teff::detail {

// Whether memory is used again. AddressSanitizer is to see the use of a graph or a task that is gone.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool keeps_blocks = false;
#elif defined(__has_feature)
inline constexpr bool keeps_blocks = !__has_feature(address_sanitizer);
#else
inline constexpr bool keeps_blocks = true;
#endif

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

// An array of objects that can be neither copied nor moved, in one piece of memory.
template <class T>
class unmoved_array {
 public:
  // Of `size` objects: make(at, i) makes each at its place. Throws what that throws, std::bad_alloc.
  template <class Make>
  unmoved_array(std::size_t size, Make make)
      : capacity_(size), first_(recycling_allocator<T>().allocate(size)) {
    undo_if_thrown(
        [&] {
          for (; made_ < size; ++made_) make(first_ + made_, made_);
        },
        [this] { destroy(); });
  }
  ~unmoved_array() { destroy(); }
  unmoved_array(const unmoved_array&) = delete;
  unmoved_array& operator=(const unmoved_array&) = delete;

  // The address of object `i`.
  [[nodiscard]] T* operator[](std::size_t i) const noexcept { return first_ + i; }
  [[nodiscard]] std::span<T> all() const noexcept { return {first_, made_}; }

 private:
  void destroy() noexcept {
    std::destroy_n(first_, made_);
    recycling_allocator<T>().deallocate(first_, capacity_);
  }

  std::size_t capacity_;
  T* first_;
  std::size_t made_ = 0;
};

}  // namespace teff::detail
