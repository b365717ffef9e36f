// A fence that one thread has all running threads of the process execute (Linux membarrier).
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace teff::detail {

class asymmetric_fence {
 public:
  asymmetric_fence() noexcept
      : available_(::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {}

  // Whether the kernel has it (4.14) and lets this process use it.
  [[nodiscard]] bool available() const noexcept { return available_; }

  // The half that costs nothing where the other half is everywhere(): keeps this thread's stores before its
  // later loads.
  void here() const noexcept {
    if (available_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      __sync_synchronize();
    }
  }

  // A full fence of this thread alone.
  static void own_core() noexcept { __sync_synchronize(); }

  // When this returns, every thread of the process has executed a full fence since it was called. A thread
  // that is not running has, by being switched out.
  void everywhere() const noexcept {
    if (available_) {
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    } else {
      __sync_synchronize();
    }
  }

 private:
  bool available_;
};

}  // namespace teff::detail
