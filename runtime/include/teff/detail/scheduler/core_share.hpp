// Whether another program has a share of the core that a thread runs on, and when the thread had better give
// way there (src/scheduler/shared_core.md).
#pragma once

#include <teff/detail/scheduler/processor_clock.hpp>

#include <cstdint>
#include <utility>

namespace teff::detail {

// The system's thread that calls. tests/core_share_test.cpp has another.
struct calling_thread {
  static std::int64_t now() noexcept { return processor_clock::now(); }
  static std::int64_t in(std::int64_t nanoseconds) noexcept { return processor_clock::in(nanoseconds); }
  // How often the system has taken the core away from it; a give_way() counts, too, if another thread had the
  // core then.
  static std::int64_t times_taken() noexcept;
  static void give_way() noexcept;
};

// Of one thread, which alone uses it.
template <class Thread = calling_thread>
class core_share {
 public:
  // Asked between two tasks, now and then; after each task while is_shared(). True: the thread is to share
  // what only it has, then to call give_way().
  [[nodiscard]] bool is_time_to_give_way() noexcept {
    const auto now = Thread::now();
    const auto since = now - std::exchange(read_at_, now);
    if (!is_shared_ && since < Thread::in(shortest_absence)) [[likely]]
      return false;
    return look_closer(now, since);
  }
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }
  // When the thread asked last, or had the core back since.
  [[nodiscard]] std::int64_t asked_at() const noexcept { return read_at_; }

  // Gives the core to a thread that waits for it, and returns when it has it back.
  [[gnu::cold]] void give_way() noexcept {
    Thread::give_way();
    begin_turn(Thread::now(), was_taken());
  }

  // In nanoseconds: of two turns on the core one is the other program's. Systems give it for some
  // milliseconds, so that the thread itself ends a turn of this length, between two tasks.
  static constexpr std::int64_t turn = 2'000'000;
  // A thread that was off its core has asked for the last time so long ago at least.
  static constexpr std::int64_t shortest_absence = 1'000'000;
  // For so long after it was last taken away the core counts as shared.
  static constexpr std::int64_t memory = 100'000'000;

 private:
  static constexpr std::int64_t unknown = -1;

  [[gnu::cold]] bool look_closer(std::int64_t now, std::int64_t since) noexcept {
    if (since >= Thread::in(shortest_absence) && was_taken()) {
      begin_turn(now, true);
      return false;
    }
    return is_shared_ && now - turn_began_ >= Thread::in(turn);
  }

  // Since it was asked last. The first time says nothing.
  bool was_taken() noexcept {
    const auto times = Thread::times_taken();
    const auto before = std::exchange(times_taken_, times);
    return before != unknown && before != times;
  }

  void begin_turn(std::int64_t now, bool taken) noexcept {
    read_at_ = turn_began_ = now;
    if (taken) taken_at_ = now;
    is_shared_ = now - taken_at_ < Thread::in(memory);
  }

  bool is_shared_ = false;
  std::int64_t read_at_ = 0;
  std::int64_t turn_began_ = 0;
  std::int64_t taken_at_ = 0;
  std::int64_t times_taken_ = unknown;
};

[[gnu::tls_model("initial-exec")]] inline constinit thread_local core_share<> this_core;

}  // namespace teff::detail
