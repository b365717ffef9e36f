// The plan of a replay: each worker's list of tasks, and the flags by which workers wait for each other
// (src/replay/README.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

namespace teff::detail {

// A flag of a replay tells other workers how many of the tasks that raise it have ended. It counts up while a
// replay lasts. The tasks of one list raise it, and a dependence costs the transfer of its cache line to the
// core of the worker that waits.
template <template <class> class Atomic = std::atomic>
class replay_flag {
 public:
  // By the worker that holds the list of the tasks that raise it.
  void raise() noexcept {
    // Release: the bodies before it; pairs with reached().
    value_.store(value_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  [[nodiscard]] bool reached(std::uint64_t count) const noexcept {
    return value_.load(std::memory_order_acquire) >= count;
  }
  // While no other thread uses the flag.
  void set(std::uint64_t count) noexcept { value_.store(count, std::memory_order_relaxed); }

 private:
  Atomic<std::uint64_t> value_{0};
};

// A recorded task: the index-th that its worker began.
struct replay_task {
  std::uint32_t worker;
  std::uint32_t index;
};

// `to` began after `from`; or `to` of the next iteration has to.
struct replay_edge {
  replay_task from;
  replay_task to;
  bool into_next_iteration;
};

// Task `index` of `waiter` waits for the task of worker `other` at `position`. The position is counted from
// the first task of the waiting iteration, so that positions in earlier iterations are negative. Callers
// number the workers.
struct replay_need {
  std::uint32_t waiter;
  std::uint32_t index;
  std::uint64_t other;
  std::int64_t position;
};

// Drops each need whose waiter has waited before for the same or a later task of the same other worker, in
// this iteration or the one before. Sorts the others by waiter and index. `tasks_of(other)`: how many tasks
// that worker has in an iteration.
void drop_known(std::vector<replay_need>& needs, const std::function<std::int64_t(std::uint64_t)>& tasks_of);

// A flag that a task waits for: until `raises` x iteration + `offset`. Iteration 0 is the recorded run.
struct replay_wait {
  const replay_flag<>* flag;
  std::uint32_t raises;    // of the flag, in an iteration
  std::uint32_t producer;  // the part whose tasks raise it
  std::int64_t offset;

  [[nodiscard]] std::uint64_t count(std::uint64_t iteration) const noexcept {
    return raises * iteration + static_cast<std::uint64_t>(offset);
  }
  [[nodiscard]] bool reached(std::uint64_t iteration) const noexcept {
    return flag->reached(count(iteration));
  }
};

// A flag that a task raises, and the worker that looks at it. Null: the signal before, of the same task, is
// of the same flag.
struct replay_signal {
  replay_flag<>* flag;
  unsigned worker;
};

// Where a task's flag lies if the application says so, else null: by worker, then by index.
using replay_flags = std::vector<std::vector<replay_flag<>*>>;

// The work of one worker in an iteration.
struct replay_part {
  // Where a task's waits and signals end; they begin where the waits and signals of the task before it end.
  struct task {
    std::uint32_t waits_end = 0;
    std::uint32_t signals_end = 0;
  };
  // Where the waits and signals of a task begin.
  [[nodiscard]] task begin_of(std::size_t index) const noexcept {
    return index == 0 ? task{} : tasks[index - 1];
  }

  unsigned worker;
  std::vector<task> tasks;
  std::vector<replay_wait> waits;
  std::vector<replay_signal> signals_sent;
};

// A dependence becomes a wait only if nothing else ensures it: not if both tasks are of one worker, nor if
// that worker has waited before for the same or a later task of the same other worker.
class replay_plan {
 public:
  // `tasks`: how many each worker has. `overlap`: an iteration begins with what the edges let begin, and not
  // when the one before it has ended. `given`: of all tasks, or empty. Throws std::bad_alloc, not_replayable
  // if tasks of two workers have the same flag.
  replay_plan(const std::vector<std::uint32_t>& tasks, std::span<const replay_edge> edges, bool overlap,
              const replay_flags& given = {});

  // Of the workers that have tasks.
  [[nodiscard]] const std::vector<replay_part>& parts() const noexcept { return parts_; }
  // Has all flags say that iteration 0 has ended. While nothing runs.
  void reset() noexcept;

 private:
  struct alignas(128) own_flag : replay_flag<> {};  // alone on a cache line
  struct counted_flag {
    replay_flag<>* flag = nullptr;
    std::uint32_t worker = 0;  // whose it is
    std::int64_t raises = 0;   // in an iteration
  };
  std::vector<replay_part> parts_;
  std::deque<own_flag> own_;  // they stay where they are
  std::vector<counted_flag> counted_;
};

}  // namespace teff::detail
