// Threads that look for requests from time to time, so that who submits one need not wake anybody
// (requests.md).
#pragma once

#include <atomic>
#include <chrono>

namespace teff::detail {

// The threads of one runtime that doze. `System` gives atomic<T>.
template <class System>
class dozers {
 public:
  // As long as there are any, one thread looks at the queue at least so often, and the last once more when it
  // ends.
  static constexpr std::chrono::microseconds nap{100};

  // seq_cst, as all that push and look at the queue: of who pushes and who ends, one sees the other.
  void begin() noexcept { count_.fetch_add(1, std::memory_order_seq_cst); }
  // Returns whether it was the last: then it is to look once more. Else another one goes on looking.
  [[nodiscard]] bool end() noexcept { return count_.fetch_sub(1, std::memory_order_seq_cst) == 1; }
  // A hint.
  [[nodiscard]] unsigned count() const noexcept { return count_.load(std::memory_order_relaxed); }
  // Whether somebody has counted on them since this was asked before. A hint.
  [[nodiscard]] bool were_counted_on() noexcept {
    return counted_on_.load(std::memory_order_relaxed) &&
           counted_on_.exchange(false, std::memory_order_relaxed);
  }

  // After a push: whether one of them will look at the queue.
  [[nodiscard]] bool will_look() noexcept {
    if (count_.load(std::memory_order_seq_cst) == 0) return false;
    if (!counted_on_.load(std::memory_order_relaxed)) counted_on_.store(true, std::memory_order_relaxed);
    return true;
  }

 private:
  typename System::template atomic<unsigned> count_{0};
  typename System::template atomic<bool> counted_on_{false};
};

// Whether a worker is of use to those who ask for it, or they had better do themselves what they ask for.
// Hints: its own thread, its guests and those that would be its guests change them.
class usefulness {
 public:
  void was_woken() noexcept { add_one(woken_); }
  // It looked on while others ran many.
  void was_of_no_use() noexcept { woken_.store(times_to_learn_from, std::memory_order_relaxed); }
  // A thread could not be the worker, since that was awake; or what it found was a call of a thread that did
  // nothing but look for its end.
  void was_in_the_way() noexcept {
    last_in_the_way_.store(true, std::memory_order_relaxed);
    add_one(in_the_way_);
  }
  void found_something() noexcept {
    if (last_in_the_way_.load(std::memory_order_relaxed)) {
      last_in_the_way_.store(false, std::memory_order_relaxed);
    } else if (is_in_doubt()) {
      forget_doubts();
    }
  }
  // Others have left it something.
  void forget_doubts() noexcept {
    woken_.store(0, std::memory_order_relaxed);
    in_the_way_.store(0, std::memory_order_relaxed);
  }

  // It was woken again and again where others were quicker, or is in the way.
  [[nodiscard]] bool is_doubtful() const noexcept {
    return woken_.load(std::memory_order_relaxed) + in_the_way_.load(std::memory_order_relaxed) >=
           times_to_learn_from;
  }
  // Threads from outside could be the worker, if it did not look for work.
  [[nodiscard]] bool is_in_the_way() const noexcept {
    return in_the_way_.load(std::memory_order_relaxed) >= times_to_learn_from;
  }

 private:
  static constexpr unsigned times_to_learn_from = 4;
  using count = std::atomic<unsigned>;  // so many times in succession

  static void add_one(count& to) noexcept {
    to.store(to.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_in_doubt() const noexcept {
    return woken_.load(std::memory_order_relaxed) + in_the_way_.load(std::memory_order_relaxed) != 0;
  }

  count woken_{0};
  count in_the_way_{0};
  std::atomic<bool> last_in_the_way_{false};
};

}  // namespace teff::detail
