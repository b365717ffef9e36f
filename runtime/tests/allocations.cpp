#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> count{0};
std::atomic<std::uint64_t> fails{0};  // when `count` is that; 0: never

}  // namespace

std::uint64_t teff::test::allocations() noexcept {
  return count.load(std::memory_order_relaxed);
}

void teff::test::fail_allocation(std::uint64_t which) noexcept {
  fails.store(which == 0 ? 0 : allocations() + which, std::memory_order_relaxed);
}

// The C++ library's array forms call these. Without the form that does not throw, a sanitizer would bring its
// own, whose memory the operator delete below can't free.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (count.fetch_add(1, std::memory_order_relaxed) + 1 == fails.load(std::memory_order_relaxed))
    return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
