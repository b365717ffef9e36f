// The part of a recording that does not depend on the type of its keys: its workers begin, wait for each
// other, and end.
#pragma once

#include <teff/detail/replay/replay_plan.hpp>
#include <teff/detail/scheduler/gang.hpp>
#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/source.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

namespace teff::detail {

class replay_core {
 public:
  // Throws std::bad_alloc.
  replay_core(scheduler& runtime, replay_plan plan);
  replay_core(const replay_core&) = delete;
  replay_core& operator=(const replay_core&) = delete;

  // The function that the worker of a part calls: it runs the iterations from 1 on.
  struct part_runner {
    void* what;
    void (*run)(void* what, std::size_t part) noexcept;
  };
  // Runs the parts; then throws what they failed with. One call at a time. Throws misuse where
  // it would wait for ever, as in the middle of a replay; runtime_was_shut_down.
  void replay(part_runner runner);

  [[nodiscard]] const std::vector<replay_part>& parts() const noexcept { return plan_.parts(); }

  // ---- For a part, on its worker ----

  // The first error is what replay() throws; no further body is called.
  void fail(std::exception_ptr error) noexcept;
  // Relaxed: a body that is called all the same is no harm.
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  // Returns when the flag has been raised far enough; false: when the replay failed.
  [[nodiscard]] bool wait_for(const replay_wait& wait, std::uint64_t iteration) const noexcept;
  void raise(const replay_signal& signal) const noexcept {
    if (signal.flag != nullptr) signal.flag->raise();
    published_to(runtime_, signal.worker);
  }

 private:
  struct part_job : job {
    replay_core* core = nullptr;
    std::size_t part = 0;
  };
  struct own_gang : gang {
    replay_core* core = nullptr;
  };
  [[nodiscard]] static bool is_over(const void* core) noexcept;
  void start() noexcept;
  void run_part(std::size_t part) noexcept;
  void end() noexcept;
  void wait_for_end_outside(bool may_take_part);

  scheduler& runtime_;
  replay_plan plan_;
  std::vector<part_job> jobs_;
  std::vector<unsigned> workers_;  // of the parts
  own_gang gang_;
  // The replay in progress.
  part_runner runner_{};
  place waiter_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // of the next one
  std::exception_ptr error_;
  alignas(128) std::atomic<std::size_t> running_{0};  // parts
  std::atomic<std::uint32_t> ended_{0};
};

// On the worker of a part: calls step(task, i) for each of its tasks in each iteration i, when what the task
// waits for has ended.
template <class Step>
void run_replay_part(replay_core& core, std::size_t index, std::uint64_t times, Step step) {
  const replay_part& part = core.parts()[index];
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto* wait = part.waits.data();
    const auto* signal = part.signals_sent.data();
    for (std::size_t task = 0; task < part.tasks.size(); ++task) {
      for (const auto* const end = part.waits.data() + part.tasks[task].waits_end; wait != end; ++wait) {
        if (!wait->reached(i + 1) && !core.wait_for(*wait, i + 1)) return;
      }
      if (core.failed()) [[unlikely]]
        return;
      step(task, i);
      for (const auto* const end = part.signals_sent.data() + part.tasks[task].signals_end; signal != end;
           ++signal)
        core.raise(*signal);
    }
  }
}

}  // namespace teff::detail
