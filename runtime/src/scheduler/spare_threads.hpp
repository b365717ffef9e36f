// Threads beside the workers, for what may block: made when needed, kept for a while.
#pragma once

#include <teff/detail/scheduler/job.hpp>

#include "platform/own_thread.hpp"
#include "scheduler/job_queue.hpp"
#include "scheduler/this_thread.hpp"

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>

namespace teff::detail {

class topology;

class spare_threads {
 public:
  // At most `most` at a time. They may use all processors of `machine`, whichever worker has them made.
  spare_threads(unsigned most, const topology& machine) : most_(most), machine_(machine) {}
  ~spare_threads() { stop(); }

  // Has a thread run the job at once. False: all are busy and there can't be more.
  [[nodiscard]] bool run(job& wanted) noexcept;
  // Whether the calling thread is one of them.
  [[nodiscard]] bool owns_this_thread() const noexcept { return this_thread.is_spare_of == this; }
  // On a spare thread: whether less than half of its stack is used.
  [[nodiscard]] static bool has_room_here() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > this_thread.stack_middle;
  }
  // Whether it is one of any runtime's.
  [[nodiscard]] static bool is_here() noexcept { return this_thread.is_spare_of != nullptr; }
  // Waits until they have ended what they run, and ends them.
  void stop() noexcept;

 private:
  using threads = std::list<own_thread>;

  void main(threads::iterator me) noexcept;

  const unsigned most_;
  const topology& machine_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  // Jobs that no thread has taken yet: never more than there are threads that wait or have just been made.
  job_queue jobs_;
  unsigned free_ = 0;  // threads that wait, or have just been made
  bool stop_ = false;
  threads threads_;
  threads ended_;  // to be joined
};

}  // namespace teff::detail
