// A ring of cache lines from one producer to one consumer, in memory that they share (rings.md).
//
// `System` gives atomic<T>; `Payload` is the content of a line beside its stamp. tests/rings_model_test.cpp
// explores this code on its interleavings.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace teff::detail {

// The shared part. All zeros are an empty ring.
template <class System, class Payload>
struct line_ring {
  template <class T>
  using atomic = typename System::template atomic<T>;

  struct alignas(64) line {
    // If a whole piece begins here: the number of this line since the beginning, counted from 1. The other
    // lines of a piece keep older stamps.
    atomic<std::uint64_t> stamp{0};
    Payload payload;
  };

  // The consumer writes these.
  alignas(64) atomic<std::uint64_t> given_back{0};  // lines
  atomic<std::uint64_t> packets_taken{0};
  // The producer sets it while it waits for room, the consumer clears it.
  alignas(64) atomic<std::uint32_t> starved{0};
};

// The producer's end. One thread at a time calls what is not const.
template <class System, class Payload>
class ring_producer {
 public:
  using memory = line_ring<System, Payload>;
  using line = typename memory::line;
  // `lines`: how many lines there are from `first` on, a power of two.
  ring_producer(memory& shared, line* first, std::size_t lines) noexcept
      : shared_(shared), first_(first), lines_(lines) {}

  // Whether the ring has room for so many lines. Any thread may ask.
  [[nodiscard]] bool has_room(std::size_t lines) const noexcept {
    // Relaxed: this process alone writes end_, under a lock that a thread takes if it relies on the answer.
    // seq_cst: after starve() or listen(); pairs with give_back(). As an acquire: the consumer has read those
    // lines.
    const auto end = end_.load(std::memory_order_relaxed);
    return end - shared_.given_back.load(std::memory_order_seq_cst) + lines <= lines_;
  }
  // As has_room(), but looks at the consumer's word only if the last value that it saw leaves too little
  // room.
  [[nodiscard]] bool finds_room(std::size_t lines) noexcept {
    const auto end = end_.load(std::memory_order_relaxed);
    if (end - known_given_back_ + lines <= lines_) return true;
    known_given_back_ = shared_.given_back.load(std::memory_order_seq_cst);
    return end - known_given_back_ + lines <= lines_;
  }
  // The consumer tells when it gives back lines from now on. The caller looks for room once more after this.
  void starve() noexcept { shared_.starved.store(1, std::memory_order_seq_cst); }

  // Line i of the next piece, within the room that was found.
  [[nodiscard]] Payload& at(std::size_t i) noexcept { return line_at(i).payload; }
  // Publishes a piece of so many lines, which are all written.
  void publish(std::size_t lines) noexcept {
    const auto end = end_.load(std::memory_order_relaxed);
    // Release: the payloads; pairs with ready(). seq_cst: before the caller looks at the consumer's doorbell.
    line_at(0).stamp.store(end + 1, std::memory_order_seq_cst);
    end_.store(end + lines, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t packets_taken() const noexcept {
    return shared_.packets_taken.load(std::memory_order_relaxed);  // a guess
  }

 private:
  [[nodiscard]] line& line_at(std::size_t i) noexcept {
    return first_[(end_.load(std::memory_order_relaxed) + i) & (lines_ - 1)];
  }
  memory& shared_;
  line* const first_;
  const std::size_t lines_;
  std::uint64_t known_given_back_ = 0;
  std::atomic<std::uint64_t> end_{0};  // lines published; the producer's process only
};

// The consumer's end.
template <class System, class Payload>
class ring_consumer {
 public:
  using memory = line_ring<System, Payload>;
  using line = typename memory::line;
  // The consumer reports lines that it gives back once there are `at_once`, since a report takes a locked
  // instruction. A producer that needs up to lines - at_once + 1 lines is still told: some of the lines that
  // it lacks are reported after it has starved.
  ring_consumer(memory& shared, line* first, std::size_t lines, std::size_t at_once) noexcept
      : shared_(shared), first_(first), lines_(lines), at_once_(at_once) {}

  // Whether there is a piece. Any thread may ask; for a thread other than the consumer it is a guess.
  [[nodiscard]] bool ready() const noexcept {
    // Acquire: the payloads; pairs with publish(). seq_cst: after the worker has announced that it sleeps.
    const auto next = next_.load(std::memory_order_relaxed);
    return first_[next & (lines_ - 1)].stamp.load(std::memory_order_seq_cst) == next + 1;
  }
  // Line i of the piece. Only the consumer asks.
  [[nodiscard]] const Payload& at(std::size_t i) const noexcept {
    return first_[(next_.load(std::memory_order_relaxed) + i) & (lines_ - 1)].payload;
  }
  // The consumer has read the piece of so many lines, which ended `packets` packets. Returns whether the
  // producer has to be told that there is room.
  [[nodiscard]] bool give_back(std::size_t lines, std::uint64_t packets) noexcept {
    const auto next = next_.load(std::memory_order_relaxed) + lines;
    next_.store(next, std::memory_order_relaxed);
    taken_ += packets;
    shared_.packets_taken.store(taken_, std::memory_order_relaxed);
    if (next - said_ < at_once_) return false;
    said_ = next;
    // Release: the payloads were read; pairs with has_room(). seq_cst: before the look at `starved`.
    shared_.given_back.store(next, std::memory_order_seq_cst);
    if (shared_.starved.load(std::memory_order_seq_cst) == 0) return false;
    return shared_.starved.exchange(0, std::memory_order_seq_cst) != 0;
  }

 private:
  memory& shared_;
  line* const first_;
  const std::size_t lines_;
  const std::size_t at_once_;
  std::atomic<std::uint64_t> next_{0};  // lines read; the consumer's process only
  std::uint64_t said_ = 0;              // lines reported as given back
  std::uint64_t taken_ = 0;
};

}  // namespace teff::detail
