// The threads that libteff starts: workers, spare threads, watchdogs, helpers of MPI.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>

namespace teff::detail {

// A thread with a stack of a given size. As any thread does, it has the signal mask of the thread that starts
// it. So a command that a task starts has that mask, too.
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
  pthread_t thread_{};
  bool is_started_ = false;
};

}  // namespace teff::detail
