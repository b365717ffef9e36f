#include "scheduler/worker.hpp"

#include <teff/detail/scheduler/release_observer.hpp>

#include "scheduler/scheduler.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

namespace teff::detail {

constinit thread_local worker* worker::current_ = nullptr;

namespace {

constexpr std::size_t scope_slots = std::size_t{1} << 20;
// A join's frame on the stack is at least this large, so that the stack overflows before the deque does.
constexpr std::size_t least_frame = 64;

}  // namespace

worker::worker(scheduler& all, unsigned index, std::size_t stack_size, trace_ring* ring)
    : all_(all),
      index_(index),
      slots_(scope_slots, stack_size / least_frame),
      random_(0x9e3779b97f4a7c15U * (index + 1)),
      ring_(ring) {}

void worker::start(std::size_t stack_size) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int failed = pthread_attr_setstacksize(&attributes, stack_size);
  if (failed == 0) failed = pthread_create(&thread_, &attributes, &thread_main, this);
  pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "libteff: starting a worker");
}

void worker::join() noexcept {
  pthread_join(thread_, nullptr);
}

void* worker::thread_main(void* self) noexcept {
  static_cast<worker*>(self)->main();
  return nullptr;
}

void worker::main() noexcept {
  current_ = this;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  stack_middle_ = reinterpret_cast<const std::byte*>(here - all_.settings().stack_size / 2);
  self.open(slots_.begin(), ring_ != nullptr);
  self.ring = ring_;
  self.scope_limit = slots_.scope_limit();
  // Its layout is laid down by the ABI (2.2.2): a pointer, then the count.
  self.exceptions = reinterpret_cast<const unsigned*>(
      reinterpret_cast<const std::byte*>(abi::__cxa_get_globals()) + sizeof(void*));
  deque_ = &self;
  all_.arrive(index_);
  work_until_stopped();
  all_.leave();
}

// What lies below on the stack goes on: it uses the thread's deque, which nobody steals from, and finds no
// worker.
void worker::begin_child() noexcept {
  auto* const me = std::exchange(current_, nullptr);
  if (me == nullptr) return;
  observed = {};
  me->activities_.each_source([](source& each) { each.begin_child(); });
  // Memory is copied while thieves are at work: the slot may say that it was stolen, and `bounds` not yet.
  auto* stolen = self.head();
  while (stolen != me->slots_.begin() && stolen[-1].state.load(std::memory_order_relaxed) == slot_state::idle)
    --stolen;
  stolen = self.disown(stolen);
  for (auto* each = me->slots_.begin(); each != stolen; ++each) {
    // A scope that waits until its thieves have moved their tasks out goes on; a join looks again.
    if (const auto state = each->state.load(std::memory_order_relaxed);
        state != slot_state::ended && state != slot_state::failed)
      each->state.store(slot_state::moved_out, std::memory_order_relaxed);
  }
  me->all_.unbind_forked_worker();
}

counters worker::counted() const noexcept {
  const auto now = ticks::now();
  const auto idle = idle_.read(now);
  const auto parked = std::min(parked_.read(now), idle);
  const auto time = [scale = all_.scale().nanoseconds_per_tick()](std::uint64_t ticks) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(ticks) * scale));
  };
  return {.jobs = jobs_.read(),
          .steals = steals_.read(),
          .failed_steals = failed_steals_.read(),
          .exposures = exposures_.read(),
          .shares = shares_.read(),
          .parks = parks_.read(),
          .wakes = wakes_.read(),
          .searching = time(idle - parked),
          .parked = time(parked),
          .spawned = ring_ == nullptr ? 0 : ring_->spawned.load(std::memory_order_relaxed),
          .tasks = ring_ == nullptr ? 0 : ring_->tasks.load(std::memory_order_relaxed)};
}

place here() noexcept {
  const auto* const me = worker::current();
  if (me == nullptr) return {};
  return {&me->all(), me->index()};
}

}  // namespace teff::detail
