#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace teff::apps {

/// Memory in huge pages where the kernel has them. Less than a huge page begins at a cache line.
template <class T>
struct huge_pages {
  using value_type = T;

  huge_pages() = default;
  template <class Other>
  explicit(false) huge_pages(const huge_pages<Other>& /*others*/) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    constexpr std::size_t page = std::size_t{1} << 21;
    constexpr std::size_t line = 64;
    const std::size_t alignment = count * sizeof(T) < page ? line : page;
    const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    if (alignment == page) madvise(memory, bytes, MADV_HUGEPAGE);  // a request: small pages do as well
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t /*count*/) { std::free(memory); }

  friend bool operator==(const huge_pages&, const huge_pages&) = default;
};

/// For arrays of many pages, which kernels walk through.
template <class T>
using huge_vector = std::vector<T, huge_pages<T>>;

}  // namespace teff::apps
