#include "scheduler/worker.hpp"

#include <teff/detail/scheduler/release_observer.hpp>

#include "platform/bell.hpp"
#include "platform/futex.hpp"
#include "platform/relax.hpp"
#include "platform/stack_overflow.hpp"
#include "scheduler/scheduler.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace teff::detail {

constinit thread_local local_deque self;

constinit thread_local worker* worker::current_ = nullptr;

namespace {

constexpr std::size_t scope_slots = std::size_t{1} << 20;
// A join's frame on the stack is at least this large, so that the stack overflows before the deque does.
constexpr std::size_t least_frame = 64;

constexpr auto* more_stack = "teff::runtime_options::stack_size or TEFF_STACK_SIZE gives the workers more";

std::uint32_t next_sleeper() noexcept {
  static std::atomic<std::uint32_t> next{bell<futex>::first_sleeper};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

worker::worker(scheduler& all, unsigned index, std::size_t stack_size, trace_ring* ring)
    : all_(all),
      index_(index),
      word_(index),
      sleeper_(next_sleeper()),
      slots_(scope_slots, stack_size / least_frame),
      random_(0x9e3779b97f4a7c15U * (index + 1)),
      patience_(all.settings().spin, all.longest_spin()),
      ring_(ring) {}

void worker::start(std::size_t stack_size) {
  thread_.start([this] { main(); }, stack_size);
}

void worker::join() noexcept {
  thread_.join();
}

void worker::main() noexcept {
  const stack_overflow_report reports(("worker " + std::to_string(index_)).c_str(), more_stack);
  current_ = this;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  own_stack_middle_ = reinterpret_cast<const std::byte*>(here - all_.settings().stack_size / 2);
  stack_middle_ = own_stack_middle_;
  open_deque();
  man_deque();
  own_deque_ = &self;
  deque_.store(own_deque_, std::memory_order_release);
  all_.arrive(index_);
  work_until_stopped();
  all_.leave();
}

void worker::open_deque() noexcept {
  self.open(slots_.begin(), ring_ != nullptr);
  // Its layout is laid down by the ABI (2.2.2): a pointer, then the count.
  self.exceptions = reinterpret_cast<const unsigned*>(
      reinterpret_cast<const std::byte*>(abi::__cxa_get_globals()) + sizeof(void*));
}

void worker::man_deque() noexcept {
  self.ring = ring_;
  self.scope_limit = slots_.scope_limit();
  self.is_alone = victims.empty();
}

void worker::leave_deque() noexcept {
  self.scope_limit = nullptr;
  self.is_alone = false;
  self.ring = nullptr;
}

// ---- Guests ----

void worker::begin_guest() noexcept {
  current_ = this;
  man_deque();
  word_ = all_.gate().word_of_guest();
  self.resume(slots_.begin());
  deque_.store(&self, std::memory_order_release);
}

worker::guest_stack::guest_stack(std::size_t size, unsigned worker)
    : calls(size),
      line(calls.bottom(), calls.size(), calls.guard(),
           ("a calling thread, as worker " + std::to_string(worker) + ",").c_str(), more_stack) {}

bool worker::run_as_guest(job& job) noexcept {
  try {
    if (!guest_stack_) guest_stack_.emplace(all_.settings().stack_size, index_);
  } catch (const std::exception&) {
    return false;
  }
  struct call {
    worker& me;
    detail::job& job;
  } call{*this, job};
  const auto begins = ticks::now();
  const auto parked = parked_.stop(begins);
  const auto idle = idle_.stop(begins);
  if (ring_ != nullptr) {
    record(*ring_, event_kind::parked, nullptr, parked);
    record(*ring_, event_kind::searching, nullptr, idle);
  }
  stack_middle_ = guest_stack_->calls.middle();
  const watched_stack here(guest_stack_->line);
  guest_stack_->calls.call(
      [](void* argument) noexcept {
        const auto& mine = *static_cast<struct call*>(argument);
        mine.me.run_job(mine.job);
        current_or_leave().tell_scope_of_ended_tasks();
      },
      &call);
  stack_middle_ = own_stack_middle_;
  const auto ends = ticks::now();
  idle_.start(ends);
  parked_.start(ends);
  ++parks_;
  return true;
}

void worker::hand_over_time() noexcept {
  rise();  // before another worker goes to sleep and relies on the bell
  if (!all_.gate().somebody_wakes_by(next_poll()) && all_.gate().wake_any(index_)) woke_one();
}

void worker::end_guest() noexcept {
  auto& gate = all_.gate();
  deque_.store(own_deque_, std::memory_order_release);
  bool others_idle = gate.prepare_leave();
  // A worker that has just ended something searches in a microsecond or two; a fence on every core takes
  // longer.
  constexpr int looks = 256;
  for (int each = 0; each < looks && !others_idle && !all_.sources().empty(); ++each) {
    relax();
    others_idle = gate.others_are_idle();
  }
  const bool calls_home = finds_reason_to_call_home(others_idle);
  if (calls_home) woke_one();
  self.suspend();
  leave_deque();
  current_ = nullptr;
  word_ = index_;
  gate.leave(calls_home);
}

worker::look::look(worker& me) noexcept : looks_(me.looks_) {
  looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  me.all_.fences().here();  // against guest::unbind(), which has every thread execute a fence
}

worker::look::~look() {
  // Release: to the acquire in wait_until_it_looked().
  looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void worker::wait_until_it_looked() const noexcept {
  const auto seen = looks_.load(std::memory_order_acquire);
  if (seen % 2 == 0) return;
  while (looks_.load(std::memory_order_acquire) == seen) std::this_thread::yield();
}

bool worker::begin_child() noexcept {
  auto* const me = std::exchange(current_, nullptr);
  if (me == nullptr) return false;
  observed = {};
  self.innermost = nullptr;
  me->activities_.each_source([](source& each) { each.begin_child(); });
  self.abandon();
  leave_deque();
  return true;
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
