// Whether another program has a share of the core that a thread runs on, and how much of the core it leaves.
// When the thread had better give way there (src/scheduler/shared_core.md).
#pragma once

#include <teff/detail/platform/processor_clock.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace teff::detail {

// How long a thread had a core, and how long it was ready to run and had none, in nanoseconds.
struct core_time {
  std::int64_t had = 0;
  std::int64_t lacked = 0;
};

// The system's thread that calls. tests/core_share_test.cpp has another.
struct calling_thread {
  static std::int64_t now() noexcept { return processor_clock::now(); }
  static std::int64_t in(std::int64_t nanoseconds) noexcept { return processor_clock::in(nanoseconds); }
  // How often the system has taken the core away from it; a give_way() counts, too, if another thread had the
  // core then.
  static std::int64_t times_taken() noexcept;
  static void give_way() noexcept;
  // Since the thread began. Both are 0 where the system does not say.
  static core_time time() noexcept;
  // To the worker that the thread is, if any.
  static void publish(double capacity) noexcept;
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

  // The thread's share of its core in the last 50 to 100 ms in which it was ready to run. 1 unless the core
  // is shared.
  [[nodiscard]] double capacity() const noexcept {
    const auto all = recent_.had + recent_.lacked;
    return all == 0 ? 1 : static_cast<double>(recent_.had) / static_cast<double>(all);
  }

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
    // A thread that is never able to give way forgets the other program, too.
    if (is_shared_ && now - taken_at_ >= Thread::in(memory)) begin_turn(now, was_taken());
    return is_shared_ && now - turn_began_ >= Thread::in(turn);
  }

  // Since it was asked last. The first time says nothing.
  bool was_taken() noexcept {
    const auto times = Thread::times_taken();
    const auto before = std::exchange(times_taken_, times);
    if (before == unknown) time_ = Thread::time();
    return before != unknown && before != times;
  }

  void begin_turn(std::int64_t now, bool taken) noexcept {
    read_at_ = turn_began_ = now;
    if (taken) taken_at_ = now;
    is_shared_ = now - taken_at_ < Thread::in(memory);
    measure();
  }

  // Asks the system for times, which costs some microseconds: once a turn on a shared core.
  void measure() noexcept {
    const auto time = Thread::time();
    const auto before = std::exchange(time_, time);
    if (!is_shared_) {
      recent_ = {};
    } else {
      recent_.had += std::min(time.had - before.had, memory);
      recent_.lacked += std::min(time.lacked - before.lacked, memory);
      if (recent_.had + recent_.lacked > memory) recent_ = {recent_.had / 2, recent_.lacked / 2};
    }
    Thread::publish(capacity());
  }

  bool is_shared_ = false;
  std::int64_t read_at_ = 0;
  std::int64_t turn_began_ = 0;
  std::int64_t taken_at_ = 0;
  std::int64_t times_taken_ = unknown;
  core_time time_;    // when it was measured last
  core_time recent_;  // older times count for less
};

// One for each thread of the process, also where a program hides its inline variables.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local core_share<> this_core;

}  // namespace teff::detail
