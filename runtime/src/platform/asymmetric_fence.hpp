// A fence that one thread has all running threads of the process, or of several processes, execute (Linux
// membarrier).
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace teff::detail {

class asymmetric_fence {
 public:
  enum class reach : int {
    process = MEMBARRIER_CMD_PRIVATE_EXPEDITED,   // since Linux 4.14
    processes = MEMBARRIER_CMD_GLOBAL_EXPEDITED,  // all that have made such a fence; since Linux 4.16
  };

  explicit asymmetric_fence(reach whom = reach::process) noexcept
      : reach_(whom),
        available_(::syscall(SYS_membarrier,
                             whom == reach::process ? MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
                                                    : MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
                             0, 0) == 0) {}

  // Whether the kernel has it and lets this process use it. Where it is not so for each process that takes
  // part, all of them are to use own_core() instead of both halves.
  [[nodiscard]] bool available() const noexcept { return available_; }

  // The half that costs nothing where the other half is everywhere(): keeps this thread's stores before its
  // later loads.
  void light() const noexcept {
    if (available_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      own_core();
    }
  }

  // A full fence of this thread alone.
  static void own_core() noexcept { __sync_synchronize(); }

  // When this returns, every thread that it reaches has executed a full fence since it was called. A thread
  // that is not running has, by being switched out.
  void everywhere() const noexcept {
    if (available_) {
      ::syscall(SYS_membarrier, static_cast<int>(reach_), 0, 0);
    } else {
      own_core();
    }
  }

 private:
  const reach reach_;
  const bool available_;
};

}  // namespace teff::detail
