// Which spare threads run requests, and for which workers: requests.md. tests/request_model_test.cpp checks
// this code on its interleavings.
#pragma once

#include <atomic>

namespace teff::detail {

// Two counts. Both are seq_cst, as are the counts of requests and of calls. A thread pushes one and sees
// that a spare thread runs requests: then the last look of the spare thread sees the push. Or it sees no
// sleeper, or that not all sleep: then the look of the next worker that goes to sleep sees the push.
template <template <class> class Atomic = std::atomic>
class lending {
 public:
  // At most as many threads as there are workers run requests at a time, apart from those that block.
  explicit lending(unsigned workers) noexcept : workers_(workers) {}

  // A worker that may run no request is about to sleep, and looks at the requests after this.
  void begin_sleep() noexcept { sleepers_.fetch_add(1, std::memory_order_seq_cst); }
  void end_sleep() noexcept { sleepers_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] bool anybody_sleeps() const noexcept {
    return sleepers_.load(std::memory_order_seq_cst) != 0;
  }
  [[nodiscard]] bool everybody_sleeps() const noexcept {
    return sleepers_.load(std::memory_order_seq_cst) == workers_;
  }

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
  Atomic<unsigned> sleepers_{0};
  Atomic<unsigned> running_{0};  // threads that run requests and do not block
};

}  // namespace teff::detail
