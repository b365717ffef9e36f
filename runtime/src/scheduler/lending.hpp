// How many spare threads run requests: requests.md. tests/request_model_test.cpp checks this code on its
// interleavings.
#pragma once

#include <atomic>

namespace teff::detail {

// The count is seq_cst, as are the counts of requests and of calls, and the gate's count of workers that
// sleep within activities. A thread pushes a request, and sees that a spare thread runs requests: then the
// last look of the spare thread sees the push. Or it sees that not enough workers sleep: then the last look
// of the next worker that goes to sleep sees the push.
template <template <class> class Atomic = std::atomic>
class lending {
 public:
  // At most as many threads as there are workers run requests at a time, apart from those that block.
  explicit lending(unsigned workers) noexcept : workers_(workers) {}

  // Whether one more thread may run requests. It has begun then.
  [[nodiscard]] bool try_begin_run() noexcept {
    auto running = running_.load(std::memory_order_seq_cst);
    while (running < workers_) {
      if (running_.compare_exchange_weak(running, running + 1, std::memory_order_seq_cst,
                                         std::memory_order_seq_cst)) {
        return true;
      }
    }
    return false;
  }
  // It has ended, or it blocks; it goes on. A thread that has ended looks at the requests after that.
  void end_run() noexcept { running_.fetch_sub(1, std::memory_order_seq_cst); }
  void resume_run() noexcept { running_.fetch_add(1, std::memory_order_seq_cst); }

  // A thread that has begun runs requests until there are none.
  template <class RunOne, class Empty>
  void run_all(RunOne run_one, Empty empty) noexcept {
    do {
      while (run_one()) {
      }
      end_run();
    } while (!empty() && try_begin_run());
  }

 private:
  const unsigned workers_;
  Atomic<unsigned> running_{0};  // threads that run requests and do not block
};

}  // namespace teff::detail
