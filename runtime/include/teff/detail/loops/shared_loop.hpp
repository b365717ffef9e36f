// A loop whose iterations several workers claim, piece by piece, without waiting for each other
// (src/flow/README.md, "Worksharing tasks").
//
// tests/shared_loop_model_test.cpp checks this very code.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace teff::detail {

// The iterations [first, last).
struct loop_piece {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  [[nodiscard]] std::uint32_t count() const noexcept { return last - first; }
};

// The iterations of one worker's part that no worker has claimed. Its one word is all of its state.
template <template <class> class Atomic = std::atomic>
class alignas(64) loop_part {
 public:
  // The worker whose part it is, while it is empty. So no other worker writes it meanwhile.
  void set(loop_piece all) noexcept {
    // Relaxed, as all operations here: an iteration needs only what its worker saw when it joined.
    rest_.store(word_of(all), std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t rest() const noexcept {
    return piece_of(rest_.load(std::memory_order_relaxed)).count();
  }
  // The first length(rest) iterations. Empty: there were none.
  template <class Length>
  [[nodiscard]] loop_piece take_first(Length length) noexcept {
    return take([&](loop_piece rest) {
      const std::uint64_t wanted = length(rest.count());
      return loop_piece{
          rest.first, rest.first + static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, rest.count()))};
    });
  }
  // The last length(rest) iterations, and at least the second half.
  template <class Length>
  [[nodiscard]] loop_piece take_last(Length length) noexcept {
    return take([&](loop_piece rest) {
      const std::uint64_t wanted = length(rest.count());
      if (wanted >= rest.count()) return rest;
      const auto some = std::max(static_cast<std::uint32_t>(wanted), (rest.count() + 1) / 2);
      return loop_piece{
          some < aligned ? rest.last - some : std::max(rest.first, (rest.last - some) / aligned * aligned),
          rest.last};
    });
  }

  // Long pieces begin at multiples, so that vector code leaves no rest, and two workers write no common line.
  static constexpr std::uint32_t aligned = 64;

 private:
  static std::uint64_t word_of(loop_piece of) noexcept { return std::uint64_t{of.first} << 32 | of.last; }
  static loop_piece piece_of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
  // `choose` gives a part of the rest that has one of its ends. No iteration is claimed twice, so a word that
  // returns means the same again.
  template <class Choose>
  loop_piece take(Choose choose) noexcept {
    auto word = rest_.load(std::memory_order_relaxed);
    for (;;) {
      const auto rest = piece_of(word);
      if (rest.count() == 0) return {};
      const loop_piece taken = choose(rest);
      const loop_piece left =
          taken.first == rest.first ? loop_piece{taken.last, rest.last} : loop_piece{rest.first, taken.first};
      if (rest_.compare_exchange_strong(word, word_of(left), std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        return taken;
    }
  }

  Atomic<std::uint64_t> rest_{0};
};

// The parts of all workers, how many iterations have not ended, and one offer at a time to join.
//
// While iterations are left to claim, a worker takes part, or the offer is queued. A worker leaves when it
// has found all parts empty, or has made the offer. A worker that takes the offer clears it before it looks
// at the parts.
template <template <class> class Atomic = std::atomic>
class shared_loop {
 public:
  using part = loop_part<Atomic>;
  // As many parts as workers. They outlive it.
  shared_loop(part* parts, unsigned workers) noexcept : parts_(parts), workers_(workers) {}

  [[nodiscard]] unsigned workers() const noexcept { return workers_; }
  // The worker's share of an equal division.
  [[nodiscard]] loop_piece share_of(unsigned worker, std::uint32_t all) const noexcept {
    const auto bound = [&](std::uint64_t index) {
      const auto at = static_cast<std::uint32_t>(all * index / workers_);
      return index == workers_ || all / workers_ < 4 * part::aligned ? at
                                                                     : at / part::aligned * part::aligned;
    };
    return {bound(worker), bound(worker + 1)};
  }
  // The first worker, before another one can know the loop. It counts down `all` and once more.
  void begin(std::uint32_t all) noexcept {
    for (unsigned i = 0; i < workers_; ++i) parts_[i].set(share_of(i, all));
    left_.store(std::uint64_t{all} + 1, std::memory_order_relaxed);
  }
  // Without begin(): end() is to count down so many.
  void expect(std::uint64_t ends) noexcept { left_.store(ends, std::memory_order_relaxed); }
  // Next iterations for this worker, length(rest of its part) of them. If its part is empty, the worker moves
  // half of the longest part there, or length(rest of that part) if that is more. Empty: no iterations are
  // left to claim.
  template <class Length>
  [[nodiscard]] loop_piece claim(unsigned worker, Length length) noexcept {
    for (;;) {
      const auto mine = parts_[worker].take_first(length);
      if (mine.count() != 0) return mine;
      part* longest = nullptr;
      std::uint32_t most = 0;
      for (unsigned i = 1; i < workers_; ++i) {
        part& each = parts_[(worker + i) % workers_];
        if (const auto rest = each.rest(); rest > most) {
          longest = &each;
          most = rest;
        }
      }
      if (longest == nullptr) return {};
      if (const auto moved = longest->take_last(length); moved.count() != 0) parts_[worker].set(moved);
    }
  }
  // How many no worker has claimed, about.
  [[nodiscard]] std::uint64_t rest() const noexcept {
    std::uint64_t all = 0;
    for (unsigned i = 0; i < workers_; ++i) all += parts_[i].rest();
    return all;
  }
  // This worker's part, which is empty, or no worker claims any.
  void set(unsigned worker, loop_piece all) noexcept { parts_[worker].set(all); }

  // So many iterations have ended. True: they were the last, and the caller sees all that the others did.
  [[nodiscard]] bool end(std::uint64_t count) noexcept {
    // Release: the caller's iterations, to the caller that ends the last. Acquire: iterations of other
    // callers.
    return left_.fetch_sub(count, std::memory_order_acq_rel) == count;
  }

  [[nodiscard]] bool is_offered() const noexcept { return offered_.load(std::memory_order_relaxed); }
  // True: the caller queues the offer.
  [[nodiscard]] bool begin_offer() noexcept {
    // Acquire: pairs with take_offer(): the worker that took the offer before is done with it.
    return !is_offered() && !offered_.exchange(true, std::memory_order_acquire);
  }
  // The caller has taken the offer out of the queue, and takes part now.
  void take_offer() noexcept { offered_.store(false, std::memory_order_release); }

 private:
  part* const parts_;
  const unsigned workers_;
  Atomic<bool> offered_{false};
  Atomic<std::uint64_t> left_{1};  // as if an empty loop had begun
};

}  // namespace teff::detail
