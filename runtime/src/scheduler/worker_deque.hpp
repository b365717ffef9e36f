// A worker's deque: its slots, and which thread's `self` is the deque over them (guests.md, "The deque of a
// guest").
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>

#include "platform/asymmetric_fence.hpp"
#include "platform/guarded_memory.hpp"

#include <cxxabi.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

// libc++abi has the function, too, but no header that declares it.
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals() noexcept;
}  // namespace __cxxabiv1

namespace teff::detail {

// The deque that thieves find is the one of the thread that is the worker: its own thread, or a guest.
class worker_deque {
 public:
  // `ring`: null unless the runtime is traced. Throws std::system_error if the memory can't be had.
  worker_deque(const asymmetric_fence& fences, std::size_t stack_size, trace_ring* ring)
      : fences_(fences), memory_(bytes(stack_size), "memory for a worker's deque"), ring_(ring) {}

  // Of address space, for a worker with a stack of so many bytes.
  [[nodiscard]] static std::size_t bytes(std::size_t stack_size) noexcept {
    return (scope_slots + stack_size / least_frame) * sizeof(task_slot);
  }
  [[nodiscard]] bool owns(const task_slot* slot) const noexcept { return memory_.has(slot); }

  // ---- The thread that is the worker, or is about to be ----

  // The calling thread's `self` becomes a deque over these slots, which no other thread knows yet.
  void open_here() const noexcept {
    self.open(slots(), ring_ != nullptr);
    // Its layout is laid down by the ABI (2.2.2): a pointer, then the count.
    self.exceptions = reinterpret_cast<const unsigned*>(
        reinterpret_cast<const std::byte*>(abi::__cxa_get_globals()) + sizeof(void*));
  }
  // From here on the calling thread's `self` is the worker's deque. `is_own`: this is the worker's own
  // thread.
  void begin(bool is_own, bool is_alone) noexcept {
    self.ring = ring_;
    self.scope_limit = slots() + scope_slots;
    self.is_alone = is_alone;
    if (is_own) {
      own_ = &self;
    } else {
      self.resume(slots());
    }
    current_.store(&self, std::memory_order_release);  // pairs with the acquire in current()
  }
  // A guest is about to look a last time: thieves find the deque of the worker's own thread again.
  void give_back() noexcept { current_.store(own_, std::memory_order_release); }
  // The calling thread is the worker no more.
  static void end() noexcept {
    self.scope_limit = nullptr;
    self.is_alone = false;
    self.ring = nullptr;
  }

  // ---- Other threads ----

  // In the storage of the thread that is the worker: other workers use it within a `look`.
  [[nodiscard]] local_deque& current() const noexcept { return *current_.load(std::memory_order_acquire); }

  // From here to the end of the block the worker, whose deque this is, looks at others' deques.
  class look {
   public:
    explicit look(worker_deque& mine) noexcept : looks_(mine.looks_) {
      looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      mine.fences_.light();  // pairs with the fence on every core in guest.cpp's unbind()
    }
    // Release: to the acquire in wait_until_it_looked().
    ~look() { looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    look(const look&) = delete;
    look& operator=(const look&) = delete;

   private:
    std::atomic<std::uint32_t>& looks_;
  };

  // A thread without looks, since it may be no worker, asks the thread that is the worker to look up from its
  // next push.
  void ask_from_outside() noexcept {
    if (&current() == own_) return own_->ask();
    const std::lock_guard lock(guests_deque_);
    current().ask();
  }

  // A guest that has given the deque back calls it after a fence on every core. When it returns, this worker
  // steals no longer from a deque that it found before.
  void wait_until_it_looked() const noexcept {
    const auto seen = looks_.load(std::memory_order_acquire);
    if (seen % 2 == 0) return;
    while (looks_.load(std::memory_order_acquire) == seen) std::this_thread::yield();
  }
  // When it returns, no thread asks from outside by a deque that it found before.
  void wait_until_asked() noexcept { const std::lock_guard lock(guests_deque_); }

 private:
  // For scopes and joins; the others are for joins alone.
  static constexpr std::size_t scope_slots = std::size_t{1} << 20;
  // A join's frame on the stack is at least this large, so that the stack overflows before the deque does.
  static constexpr std::size_t least_frame = 64;

  // Zero pages: every slot's state is idle.
  [[nodiscard]] task_slot* slots() const noexcept { return reinterpret_cast<task_slot*>(memory_.begin()); }

  const asymmetric_fence& fences_;
  const guarded_memory memory_;
  trace_ring* const ring_;
  std::atomic<local_deque*> current_{nullptr};
  local_deque* own_ = nullptr;           // of the worker's own thread; constant once the runtime has begun
  std::atomic<std::uint32_t> looks_{0};  // odd: one is in progress
  spin_lock guests_deque_;               // held by a thread that uses a guest's deque and has no looks
};

}  // namespace teff::detail
