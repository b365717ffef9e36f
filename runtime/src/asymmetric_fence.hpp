// A fence that one thread has all running threads of the process execute (Linux membarrier).
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace teff::detail {

class asymmetric_fence {
 public:
  asymmetric_fence() noexcept
      : available_(::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {}

  // Whether the kernel has it (4.14) and lets this process use it.
  [[nodiscard]] bool available() const noexcept { return available_; }

  // When this returns, every thread of the process has executed a full fence since it was called. A thread
  // that is not running has, by being switched out.
  void everywhere() const noexcept { ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

 private:
  bool available_;
};

}  // namespace teff::detail
