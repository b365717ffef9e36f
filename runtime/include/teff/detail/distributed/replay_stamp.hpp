// A stamp beside a kept output of a task: of which iteration it is (src/distributed/replay.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace teff::detail {

// The count of iterations that have ended when the output is there: 0 is none. One worker of one rank writes
// it; others read it, in memory that they share, or have a copy that packets keep.
template <template <class> class Atomic = std::atomic>
class replay_stamp {
 public:
  void raise(std::uint64_t count) noexcept {
    // Release: the output, and that the inputs have been read; pairs with reached(). That the look at the
    // bells of those who may sleep comes after it, the caller sees to.
    value_.store(count, std::memory_order_release);
  }
  // Of an iteration before the first one, `count` is below 1: there was none to wait for.
  [[nodiscard]] bool reached(std::int64_t count) const noexcept {
    // Acquire: as raise() says.
    return static_cast<std::int64_t>(value_.load(std::memory_order_acquire)) >= count;
  }
  // While no other thread of any rank uses it.
  void reset() noexcept { value_.store(0, std::memory_order_relaxed); }

 private:
  Atomic<std::uint64_t> value_{0};
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // so it may be shared between processes

// The outputs of a task that are kept, one after the other, each with its stamp behind it on the same cache
// line if it is small. The output of iteration i lies where the output of i - kept lay.
struct kept_slots {
  std::byte* first = nullptr;
  std::size_t stride = 0;
  std::size_t stamp_at = 0;
  std::uint64_t mask = 0;  // kept - 1; a power of two is kept

  [[nodiscard]] std::byte* at(std::uint64_t iteration) const noexcept {
    return first + (iteration & mask) * stride;
  }
  [[nodiscard]] replay_stamp<>& stamp(std::uint64_t iteration) const noexcept {
    return *reinterpret_cast<replay_stamp<>*>(at(iteration) + stamp_at);
  }
};

// The task whose outputs these are is to have ended, in the iteration so many before the one that waits.
struct rank_wait {
  kept_slots of;
  std::int64_t before = 0;

  [[nodiscard]] bool reached(std::uint64_t iteration) const noexcept {
    const auto at = static_cast<std::int64_t>(iteration) - before;
    return of.stamp(static_cast<std::uint64_t>(at)).reached(at + 1);
  }
};

}  // namespace teff::detail
