// How many iterations of a loop run before the worker looks whether another one wants a share. By measurement
// they take half a microsecond, and up to eight times as long in a long loop.
#pragma once

#include <teff/detail/platform/processor_clock.hpp>
#include <teff/detail/scheduler/local_deque.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

namespace teff::detail {

// How long a block is to take, and how much a loop must have left to be worth a steal. A steal takes a
// microsecond with all that follows from it. (With 4 us, loops of 3 us were not shared. Where loops over the
// same data followed each other, they then fetched the data from two caches. With 2 us, loops of that length
// were shared now and then, and always fetched half of the data from another cache.)
inline constexpr std::int64_t block_nanoseconds = 500;
inline constexpr double blocks_worth_a_steal = 6;
// The same for a wake of a worker that sleeps: some microseconds for the waker, and some tens until the other
// is up.
inline constexpr double blocks_worth_a_wake = 128;
// An iteration that takes 100 us. It costs a thousandth to offer each half of what is left before it.
inline constexpr double blocks_of_long_iteration = 200;
// A millisecond: longer than all workers take to wake one after the other.
inline constexpr double blocks_of_an_iteration_to_deal_out = 2000;

// The pace of the last loop with this body, of few iterations or of many. The next such loop starts from it,
// until it has measured its own. Several workers may write it.
class remembered_pace {
 public:
  // Iterations a block, also less than one; 0 if it was never measured.
  [[nodiscard]] float get() const noexcept { return pace_.load(std::memory_order_relaxed); }
  // Writes only if the value changes much: other workers read the line.
  void set(float pace) noexcept {
    const auto old = get();
    if (pace < old / 2 || pace > old * 2) pace_.store(pace, std::memory_order_relaxed);
  }

 private:
  std::atomic<float> pace_{0};  // relaxed: a hint
};

template <class Body>
inline constinit remembered_pace paces_of[2]{};

// Where a loop of so many iterations remembers its pace. Loops of few iterations remember another pace than
// long ones. Where a program uses a body for both, the iterations of the short loops are often the dear ones.
// A short loop can't measure first: when its first iteration has ended, which is not shared, much of the loop
// has run.
template <class Body>
remembered_pace& pace_of(std::uint64_t iterations) noexcept {
  constexpr std::uint64_t few = 32;
  return paces_of<Body>[iterations <= few ? 0 : 1];
}

// The pace of one piece of a loop.
//
// The first block is one iteration, also where a pace is remembered: this loop's data may be dearer, and a
// block is not shared. Then each block may be twice as long as the block before, and longer if it confirms
// the remembered pace. After a block that took too long, the next one is shorter at once. So where the cost
// jumps, or the first iterations do nothing, the part that is not shared is about as long as the part that
// has already run. The only worker, which nobody asks for a share, begins with what is remembered, and a few
// iterations at most: requests wait for a block.
template <class Clock = processor_clock>
class loop_pace {
 public:
  // `given` is the length of the blocks; 0 to measure. `alone`: nothing is shared.
  explicit loop_pace(const remembered_pace& remembered, std::uint64_t given = 0, bool alone = false) noexcept
      : given_(given != 0) {
    if (given_) {
      block_ = static_cast<std::int64_t>(std::min<std::uint64_t>(given, INT64_MAX));
    } else {
      remembered_ = pace_ = static_cast<double>(remembered.get());
      if (alone) block_ = static_cast<std::int64_t>(std::clamp(remembered_, 1.0, most_at_first));
      looked_ = Clock::now();
    }
  }

  // How many iterations are next.
  [[nodiscard]] std::int64_t block() const noexcept { return block_; }
  // The same where `done` have run. No worker has asked for a share of these. So the block may be a quarter
  // of them, and take eight times as long. A body may have a cost for each block, such as a buffer that it
  // makes.
  //
  // A block ends at a multiple of a power of two, as large a one as fits it and at most 64. So a compiler
  // that makes one vector of several iterations leaves no rest, which would cost a short block as much again.
  // A long block also begins as well aligned as the piece did: 64 iterations, of whatever size, are a cache
  // line at least.
  [[nodiscard]] std::uint64_t block_after(std::uint64_t done) const noexcept {
    const auto least = static_cast<std::uint64_t>(block_);
    if (given_) return least;
    const auto block = std::max(least, std::min(done / 4, longest_block_));
    return block - (done + block) % std::min(std::bit_floor(block), aligned);
  }

  // How many of `rest` iterations a worker claims at once, after `done`, if a claim costs it a cache line. An
  // eighth of them: at least 2 us, and at most 100 us. It claims at most twice as many as it has run, since
  // they may be dearer.
  [[nodiscard]] std::uint64_t chunk(std::uint64_t rest, std::uint64_t done) const noexcept {
    auto chunk = static_cast<double>(block_);
    if (is_measured())
      chunk = std::min(std::clamp(static_cast<double>(rest) / 8, 4 * pace_, 200 * pace_),
                       std::max(chunk, 2 * static_cast<double>(done)));
    const auto whole = static_cast<std::uint64_t>(std::clamp(chunk, 1.0, longest));
    return whole < aligned ? whole : whole / aligned * aligned;
  }
  // Whether it knows what an iteration takes, by remembrance at least.
  [[nodiscard]] bool is_measured() const noexcept { return pace_ > 0; }

  // `done` iterations have run since the last call.
  void look(std::int64_t done) noexcept {
    if (given_) return;
    unmeasured_ += done;
    if (settled_) {  // every second block is measured
      settled_ = false;
      return;
    }
    const auto now = Clock::now();
    const auto took = std::max<std::int64_t>(now - looked_, 1);
    const auto done_now = std::exchange(unmeasured_, 0);
    looked_ = now;
    took_ += took;
    done_ += done_now;
    adapt(done_now, took);
  }

  // So many more have run, of a piece that is no splitting_loop: looks when those that it was told of are a
  // block.
  void ran(std::uint64_t iterations) noexcept {
    since_look_ += static_cast<std::int64_t>(iterations);
    if (since_look_ < block_) return;
    block_ = since_look_;
    look(std::exchange(since_look_, 0));
  }

  // Whether `left` iterations are worth a steal. Iterations of a loop that was never measured are.
  [[nodiscard]] bool pays(std::uint64_t left) const noexcept {
    if (given_) return left > static_cast<std::uint64_t>(block_);
    return left > 1 && static_cast<double>(left) >= blocks_worth_a_steal * pace_;
  }

  // Whether they are worth the wake of a sleeper besides.
  [[nodiscard]] bool pays_a_wake(std::uint64_t left) const noexcept {
    return given_ || static_cast<double>(left) >= blocks_worth_a_wake * pace_;
  }

  // Whether to give a part of the `left` iterations away: another worker wants a share, and they are worth
  // one. Or each takes so long that a worker which asks meanwhile would wait for its end.
  [[nodiscard]] bool wants_a_share(std::uint64_t left) const noexcept {
    if (iteration_takes(blocks_of_long_iteration)) [[unlikely]]
      return left > 1;
    return self.asked() && self.asked_to_share() && pays(left) &&
           (pays_a_wake(left) || shares_without_wake());
  }

  // Whether an iteration takes so many blocks, as far as it was measured.
  [[nodiscard]] bool iteration_takes(double blocks) const noexcept {
    return is_measured() && pace_ < 1 / blocks;
  }

  // Whether an iteration is worth a steal by itself. An iteration that was never measured may be.
  [[nodiscard]] bool is_long() const noexcept { return pace_ <= 0.5; }

  // Keeps the pace for later loops.
  void tell(remembered_pace& remembered) const noexcept {
    if (done_ != 0) remembered.set(static_cast<float>(in_a_block(done_, took_)));
  }

  // The same at the end of a piece, whose last block of `done` iterations nobody has looked at. A piece of
  // one block is measured, or loops of few iterations would never be.
  void tell_at_end(remembered_pace& remembered, std::int64_t done) noexcept {
    if (done_ == 0) look(done);
    tell(remembered);
  }

  static constexpr std::uint64_t aligned = 64;

 private:
  static constexpr double times_as_long = 8;
  static constexpr double longest = 1e15;  // iterations that take no time: far from any overflow
  static constexpr double trust = 64;
  static constexpr double most_at_first = 8;  // a vector of floats: no rest is left over
  // A shorter time may come from a cold cache, empty iterations, or reading the clock: the remembered pace
  // counts for more. Where no pace is remembered, a few iterations do.
  static constexpr std::int64_t few = 16;
  static constexpr std::int64_t cold_nanoseconds = 1000;

  void adapt(std::int64_t done, std::int64_t took) noexcept {
    const auto pace = in_a_block(done, took);
    const auto block = static_cast<double>(block_);
    settled_ = pace < 2 * block && pace > block / 2;
    double next = std::min(pace, 2 * block);
    if (took >= Clock::in(cold_nanoseconds) || (remembered_ <= 0 && done >= few)) {
      pace_ = pace;
      longest_block_ = static_cast<std::uint64_t>(std::min(times_as_long * pace, longest));
    } else {
      next = std::max(next, std::min(remembered_, trust * block));
    }
    block_ = static_cast<std::int64_t>(std::clamp(next, 1.0, longest));
  }

  static double in_a_block(std::int64_t done, std::int64_t ticks) noexcept {
    return static_cast<double>(done) * static_cast<double>(Clock::in(block_nanoseconds)) /
           static_cast<double>(ticks);
  }

  bool given_;
  bool settled_ = false;
  double remembered_ = 0;
  double pace_ = 0;  // what is thought of the iterations to come
  std::int64_t looked_ = 0;
  std::int64_t block_ = 1;
  std::uint64_t longest_block_ = 0;  // 0: the iterations to come were not measured
  std::int64_t since_look_ = 0;      // iterations that ran() was told of
  std::int64_t unmeasured_ = 0;      // iterations since the clock was read
  std::int64_t done_ = 0;            // before that
  std::int64_t took_ = 0;
};

}  // namespace teff::detail
