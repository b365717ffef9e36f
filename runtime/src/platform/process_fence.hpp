// A fence that one thread has all running threads of several processes execute (Linux membarrier): for a
// thread that sleeps until another process wakes it.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace teff::detail {

class process_fence {
 public:
  // From now on everywhere(), called by any process, reaches this one.
  process_fence() noexcept
      : available_(::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0) {}

  // Whether the kernel has it (4.16) and lets this process use it. Where it is not so for each process that
  // takes part, all of them are to use own_core() instead of both halves.
  [[nodiscard]] bool available() const noexcept { return available_; }

  // The half that costs nothing: keeps this thread's stores before its later loads, towards a thread that
  // calls everywhere().
  static void here() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

  // A full fence of this thread alone.
  static void own_core() noexcept { __sync_synchronize(); }

  // When this returns, every thread of these processes has executed a full fence since it was called. A
  // thread that is not running has, by being switched out.
  void everywhere() const noexcept {
    if (available_) ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  }

 private:
  bool available_;
};

}  // namespace teff::detail
