// The requests of one runtime, and the spare threads that run them where workers may not.
//
// Which thread runs what, and why that can't deadlock: requests.md.
#pragma once

#include "platform/futex.hpp"
#include "scheduler/idle_gate.hpp"
#include "scheduler/job_queue.hpp"
#include "scheduler/lending.hpp"
#include "scheduler/spare_threads.hpp"
#include "scheduler/this_thread.hpp"

namespace teff::detail {

class requests {
 public:
  requests(unsigned workers, const idle_gate<futex>& gate, unsigned most_spare_threads,
           const topology& machine)
      : gate_(gate), lent_(workers), spare_(most_spare_threads, machine) {}

  [[nodiscard]] job_queue& queue() noexcept { return queue_; }
  // Calls of run() that no worker has begun. They are no requests, but lent as these where all workers wait.
  [[nodiscard]] job_queue& calls() noexcept { return calls_; }
  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

  // The calling worker may run no request. If there are any, a spare thread is to run them; and calls, where
  // no worker may begin one.
  void lend() noexcept;

  [[nodiscard]] spare_threads& spare() noexcept { return spare_; }
  [[nodiscard]] const spare_threads& spare() const noexcept { return spare_; }

  // When no request is left to run and the workers have ended. Lets go of what was run without the queue.
  void stop() noexcept;

  // On such a thread: it blocks, so that another may take its place; it goes on. What blocks may block again
  // within.
  void begin_block() noexcept;
  void end_block() noexcept;

 private:
  struct lent_thread;

  void run_all() noexcept;
  [[nodiscard]] bool is_there_anything_to_lend() const noexcept;
  [[nodiscard]] job* next_to_lend() noexcept;

  const idle_gate<futex>& gate_;
  job_queue queue_;
  job_queue calls_;
  lending<> lent_;
  spare_threads spare_;
};

}  // namespace teff::detail
