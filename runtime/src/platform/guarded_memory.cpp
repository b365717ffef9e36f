#include "platform/guarded_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace teff::detail {

guarded_memory::guarded_memory(std::size_t size, const char* what, int flags)
    : guard_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
      size_((size + guard_ - 1) / guard_ * guard_) {
  void* const memory = ::mmap(nullptr, size_ + 2 * guard_, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (memory != MAP_FAILED) {
    begin_ = static_cast<std::byte*>(memory) + guard_;
    if (::mprotect(begin_, size_, PROT_READ | PROT_WRITE) == 0) return;
  }
  const int reason = errno;
  if (memory != MAP_FAILED) ::munmap(memory, size_ + 2 * guard_);
  throw std::system_error(reason, std::generic_category(), std::string("libteff: ") + what);
}

guarded_memory::~guarded_memory() {
  ::munmap(begin_ - guard_, size_ + 2 * guard_);
}

}  // namespace teff::detail
