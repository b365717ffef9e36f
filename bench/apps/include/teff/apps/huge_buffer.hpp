#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace teff::apps {

/// Memory in huge pages where the kernel has them. All its elements are zeros.
template <class T>
class huge_buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  huge_buffer() = default;
  explicit huge_buffer(std::int64_t count) : count_(static_cast<std::size_t>(count)) {
    constexpr std::size_t page = std::size_t{1} << 21;
    constexpr std::size_t line = 64;
    const std::size_t alignment = count_ * sizeof(T) < page ? line : page;
    const std::size_t bytes = (count_ * sizeof(T) + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes)));
    if (data_ == nullptr && bytes > 0) throw std::bad_alloc();
    if (alignment == page) madvise(data_.get(), bytes, MADV_HUGEPAGE);
    for (T& each : all()) each = T{};
  }

  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::span<T> all() const { return {data_.get(), count_}; }
  [[nodiscard]] T& operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }

 private:
  struct release {
    void operator()(T* memory) const { std::free(memory); }
  };

  std::size_t count_ = 0;
  std::unique_ptr<T[], release> data_;
};

}  // namespace teff::apps
