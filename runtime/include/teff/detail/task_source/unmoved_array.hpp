// An array of objects that can be neither copied nor moved, in one piece of memory.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/task_source/recycled_memory.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace teff::detail {

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
