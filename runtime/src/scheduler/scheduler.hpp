// All workers of one runtime, and what they share.
#pragma once

#include <teff/detail/scheduler/process.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/runtime.hpp>

#include "platform/asymmetric_fence.hpp"
#include "platform/futex.hpp"
#include "platform/ticks.hpp"
#include "platform/topology.hpp"
#include "scheduler/idle_gate.hpp"
#include "scheduler/job_queue.hpp"
#include "scheduler/requests.hpp"
#include "scheduler/search_pace.hpp"
#include "scheduler/sources.hpp"
#include "scheduler/worker.hpp"
#include "trace/trace.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <vector>

namespace teff::detail {

// Options with every default filled in. Throws invalid_option.
[[nodiscard]] runtime_options complete(runtime_options given, unsigned usable_cores);
// Whether these options, or the environment, say how long a worker spins. Throws invalid_option.
[[nodiscard]] bool says_how_long_to_spin(const runtime_options& given);

class scheduler {
 public:
  explicit scheduler(const runtime_options& given);
  ~scheduler();

  // Within a call: returns when the job has ended.
  void run_in_call(awaited_job& job);
  // From the first to the last, shut_down() waits. False: the runtime was shut down; but not as long as other
  // calls are between the two: they may need more calls.
  [[nodiscard]] bool begin_call_unless_shut_down();
  void end_call() noexcept;
  void shut_down();
  // shut_down() where the process ends. Does nothing if that would wait for a call, or for the calling
  // worker.
  void shut_down_at_exit() noexcept;
  [[nodiscard]] bool is_shut_down() const noexcept {
    return (calls_.load(std::memory_order_relaxed) & shut_down_flag) != 0;
  }

  // Whether this process has been forked from the one that made the scheduler, so that there are no workers,
  // and locks may be held by threads that do not exist (forks.md).
  [[nodiscard]] bool is_of_parent() const noexcept { return made_in_ != this_process(); }
  // Wakes a worker that sleeps for work, best one on another processor: the calling thread goes on with this
  // one. Returns whether it woke one.
  bool wake_another() noexcept;

  // No other runtime of the process ever has the same number.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] runtime_life life() const noexcept { return lives_; }
  // The worker that is bound to the processor that the calling thread is on; null: none is.
  [[nodiscard]] worker* worker_of_this_processor() const noexcept;
  // If workers are bound, a thread goes on on the processor of this worker; its mask stays as it is.
  // `thread`: as the kernel numbers it; 0: the calling thread.
  void move_to_processor_of(unsigned index, pid_t thread = 0) noexcept;
  [[nodiscard]] counters counted() const noexcept;
  // Null: the runtime is not traced.
  [[nodiscard]] trace* traced() noexcept { return trace_ ? &*trace_ : nullptr; }
  [[nodiscard]] const tick_scale& scale() const noexcept { return scale_; }
  [[nodiscard]] const runtime_options& settings() const noexcept { return settings_; }
  [[nodiscard]] const std::vector<std::unique_ptr<worker>>& workers() const noexcept { return workers_; }
  [[nodiscard]] idle_gate<futex>& gate() noexcept { return gate_; }
  [[nodiscard]] detail::requests& requests() noexcept { return requests_; }
  [[nodiscard]] const detail::requests& requests() const noexcept { return requests_; }
  // Whether there is a call of run() or a request that nobody has begun.
  [[nodiscard]] bool has_work_from_outside() noexcept {
    return !requests_.calls().empty() || !requests_.empty();
  }
  // The first one is at work.
  [[nodiscard]] job_queue& gangs() noexcept { return gangs_; }
  [[nodiscard]] detail::sources& sources() noexcept { return sources_; }
  // A source that stays attached as long as the runtime lives; null until it is made.
  [[nodiscard]] std::atomic<polled_source*>& lasting_source() noexcept { return lasting_source_; }
  [[nodiscard]] const asymmetric_fence& fences() const noexcept { return fences_; }
  [[nodiscard]] bool stopping() const noexcept { return stop_.load(std::memory_order_seq_cst); }
  // More workers than cores: a spinning worker keeps another from running.
  [[nodiscard]] const std::atomic<bool>& crowded() const noexcept { return crowded_; }
  // Other processes want these cores, too.
  void share_cores() noexcept { crowded_.store(true, std::memory_order_relaxed); }
  // How long a worker spins at most.
  [[nodiscard]] std::chrono::microseconds longest_spin() const noexcept { return longest_spin_; }
  // Something was published, and nobody woken for it: if somebody searches, a wake was saved. A hint.
  void count_on_searcher() noexcept {
    if (!searcher_counted_on_.load(std::memory_order_relaxed))
      searcher_counted_on_.store(true, std::memory_order_relaxed);
  }
  // Whether that has happened since this was asked before.
  [[nodiscard]] bool was_searcher_counted_on() noexcept {
    return searcher_counted_on_.load(std::memory_order_relaxed) &&
           searcher_counted_on_.exchange(false, std::memory_order_relaxed);
  }

  // Whether a searcher may expose private work now, which interrupts all workers: the more there are, the
  // longer after the last time.
  [[nodiscard]] bool exposure_is_due() noexcept;

  // A worker's thread: goes to its processor, then waits until all deques are open; and at its end, until
  // nobody can look at its deque any more.
  void arrive(unsigned index) noexcept;
  void depart() noexcept { departed_.arrive_and_wait(); }

 private:
  void stop_workers(std::size_t started) noexcept;
  void wait_for_calls() noexcept;
  void end_workers() noexcept;

  const std::uint64_t number_;
  const std::shared_ptr<std::atomic<bool>> lives_ = std::make_shared<std::atomic<bool>>(true);
  const unsigned made_in_ = this_process();
  topology machine_;
  asymmetric_fence fences_;
  runtime_options settings_;
  tick_scale scale_;
  std::optional<trace> trace_;
  std::atomic<bool> crowded_;
  std::chrono::microseconds longest_spin_;
  std::optional<processor_claim> bound_;  // worker i to its i-th
  std::vector<worker*> by_processor_;     // null where none is bound
  std::atomic_flag moving_;               // some thread moves another one, or itself
  idle_gate<futex> gate_;
  detail::requests requests_;
  job_queue gangs_;
  detail::sources sources_;
  std::atomic<polled_source*> lasting_source_{nullptr};
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<worker>> workers_;
  std::latch arrived_;
  std::latch departed_;

  // How many calls of run() are in progress, times `one_call`; and whether no more may begin.
  static constexpr std::uint32_t one_call = 2;
  static constexpr std::uint32_t shut_down_flag = 1;
  alignas(64) std::atomic<std::uint32_t> calls_{0};
  alignas(64) std::atomic<bool> searcher_counted_on_{false};
  std::atomic<std::int64_t> next_exposure_{0};  // by the processors' clock
};

}  // namespace teff::detail
