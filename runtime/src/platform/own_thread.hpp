// The threads that libteff starts: workers, spare threads, watchdogs, helpers of MPI.
#pragma once

#include <pthread.h>

#include <csignal>
#include <cstddef>
#include <functional>

namespace teff::detail {

// A thread that blocks the program's signals.
//
// The kernel gives a signal that was sent to the process to any thread that does not block it. A program may
// want it on one thread: a main loop that unblocks a signal only within ppoll() sleeps on if another thread
// has taken the signal. So a thread of libteff takes only these:
// - signals that the thread itself causes: faults, abort(), a write to a closed pipe, use of a terminal or a
//   file beyond what the process may;
// - SIGPROF: the kernel sends it to the thread that used the processor, and a profiler counts by that.
class own_thread {
 public:
  own_thread() noexcept = default;
  ~own_thread() { join(); }
  own_thread(const own_thread&) = delete;
  own_thread& operator=(const own_thread&) = delete;

  // Starts the thread, once. 0 bytes of stack: as many as the system gives. Throws std::system_error.
  void start(std::function<void()> body, std::size_t stack_size = 0);
  // Waits until the thread has ended, if it was started.
  void join() noexcept;

 private:
  std::function<void()> body_;
  sigset_t blocked_before_{};  // by the program's thread that started this one
  pthread_t thread_{};
  bool is_started_ = false;
};

}  // namespace teff::detail
