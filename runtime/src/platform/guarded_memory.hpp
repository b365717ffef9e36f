// Memory between two pages that fault: stacks, and arrays whose ends the code does not check.
#pragma once

#include <cstddef>

namespace teff::detail {

class guarded_memory {
 public:
  // Reserves `size` bytes or a few more, up to a whole page: zeros, which take memory as they are touched.
  // `what`: their use, in words. `flags`: of mmap(), besides. Throws std::system_error.
  guarded_memory(std::size_t size, const char* what, int flags = 0);
  ~guarded_memory();
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;

  [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
  [[nodiscard]] std::byte* end() const noexcept { return begin_ + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool has(const void* address) const noexcept { return address >= begin() && address < end(); }
  // So many bytes before the beginning, and behind the end, fault.
  [[nodiscard]] std::size_t guard() const noexcept { return guard_; }

 private:
  std::size_t guard_;
  std::size_t size_;
  std::byte* begin_ = nullptr;
};

}  // namespace teff::detail
