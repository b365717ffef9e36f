// The part of a recording that does not depend on the type of its keys: its workers begin, wait for each
// other, run each other's lists, and end.
#pragma once

#include <teff/detail/replay/replay_list.hpp>
#include <teff/detail/replay/replay_plan.hpp>
#include <teff/detail/scheduler/gang.hpp>
#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/source.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace teff::detail {

class replay_core {
 public:
  // `bound`: no worker runs another one's list. Throws std::bad_alloc.
  replay_core(scheduler& runtime, replay_plan plan, bool bound = false);

  // The function that the worker of a part calls: it runs the iterations from 1 on, and does not throw. A
  // caller gives it by std::cref(), which allocates nothing.
  using part_runner = std::function<void(std::size_t part)>;
  // Runs the parts; then throws what they failed with. One call at a time. Throws misuse where
  // it would wait for ever, as in the middle of a replay; runtime_was_shut_down.
  void replay(part_runner runner);

  [[nodiscard]] const std::vector<replay_part>& parts() const noexcept { return plan_.parts(); }

  // ---- For a part, on its worker ----

  // The first error is what replay() throws; no further body is called.
  void fail(std::exception_ptr error) noexcept;
  // Relaxed: a body that is called all the same is no harm.
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  void raise(const replay_signal& signal) const noexcept {
    if (signal.flag != nullptr) signal.flag->raise();
    published_to(runtime_, signal.worker);
  }

 private:
  friend class replay_turn;
  struct part_job : job {
    replay_core* core = nullptr;
    std::size_t part = 0;
  };
  struct own_gang : gang {
    replay_core* core = nullptr;
  };
  void start() noexcept;
  void run_part(std::size_t part) noexcept;
  void end() noexcept;
  void wait_for_end_outside(bool may_take_part);
  void wake_all() const noexcept;
  // The first wait of the list's next task that lasts; null: the task can begin. A hint unless the calling
  // worker holds the list.
  [[nodiscard]] const replay_wait* awaited_by(std::size_t list) const noexcept;

  scheduler& runtime_;
  replay_plan plan_;
  const bool is_bound_;
  std::vector<replay_list<>> lists_;  // of the parts
  std::vector<part_job> jobs_;
  own_gang gang_;
  // The replay in progress.
  part_runner runner_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // of the next one
  std::exception_ptr error_;
  alignas(128) std::atomic<std::size_t> running_{0};  // parts
  awaited_end ended_;
};

// The worker of a part. It runs its own list, and that of another worker while its own list waits for it.
class replay_turn {
 public:
  replay_turn(replay_core& core, std::size_t own, std::uint64_t times) noexcept
      : core_(core), own_(static_cast<std::uint32_t>(own)), times_(times) {}

  // Waits until the worker holds a list whose next task can begin. False: its own list has ended, or the
  // replay has failed.
  [[nodiscard]] bool take_list() noexcept;
  // The list that it holds.
  [[nodiscard]] std::uint32_t list() const noexcept { return list_; }
  [[nodiscard]] replay_position position() const noexcept { return core_.lists_[list_].next(); }
  void leave(replay_position next) noexcept;

  // The next task of the list that it holds waits. False: it had better leave the list.
  [[nodiscard]] bool comes_soon(const replay_wait& wait, std::uint64_t iteration) const noexcept;
  // Asked after each task. False: it is to leave the list.
  [[nodiscard]] bool stays() noexcept { return --tasks_before_look_ != 0 || look_around(); }

 private:
  static constexpr std::uint32_t none = ~0U;
  static constexpr unsigned tasks_between_looks = 16;

  [[nodiscard]] bool look_around() noexcept;
  [[nodiscard]] bool finds_list() noexcept;
  [[nodiscard]] bool stands(std::uint32_t list) noexcept;

  replay_core& core_;
  const std::uint32_t own_;
  const std::uint64_t times_;
  std::uint32_t list_ = none;
  unsigned tasks_before_look_ = tasks_between_looks;
  bool gives_way_ = false;
  // A list that another worker could go on with, since when its next task is the same.
  std::uint32_t watched_ = none;
  replay_position watched_position_;
  std::int64_t watched_since_ = 0;
};

// Runs tasks of the list that the worker holds. Returns at which task the worker leaves it.
template <class Step>
replay_position run_list(replay_core& core, replay_turn& turn, std::uint64_t times, Step& step) {
  const auto list = turn.list();
  const replay_part& part = core.parts()[list];
  auto [i, task] = turn.position();
  for (; i < times; ++i, task = 0) {
    const auto begin = part.begin_of(task);
    const auto* wait = part.waits.data() + begin.waits_end;
    const auto* signal = part.signals_sent.data() + begin.signals_end;
    while (task < part.tasks.size()) {
      for (const auto* const end = part.waits.data() + part.tasks[task].waits_end; wait != end; ++wait) {
        if (!wait->reached(i + 1) && !turn.comes_soon(*wait, i + 1)) return {i, task};
      }
      if (core.failed()) [[unlikely]]
        return {i, task};
      step(list, task, i);
      for (const auto* const end = part.signals_sent.data() + part.tasks[task].signals_end; signal != end;
           ++signal)
        core.raise(*signal);
      ++task;
      if (!turn.stays()) [[unlikely]]
        return task == part.tasks.size() ? replay_position{i + 1, 0} : replay_position{i, task};
    }
  }
  return {times, 0};
}

// On the worker of a part: calls step(list, task, i) for each task of its list in each iteration i, when what
// the task waits for has ended. While the list waits, calls it for tasks of other lists. Another worker may
// call it for tasks of this list.
template <class Step>
void run_replay_part(replay_core& core, std::size_t own, std::uint64_t times, Step step) {
  replay_turn turn(core, own, times);
  while (turn.take_list()) turn.leave(run_list(core, turn, times, step));
}

}  // namespace teff::detail
