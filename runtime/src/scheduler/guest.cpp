#include "scheduler/guest.hpp"

#include <teff/detail/scheduler/requests.hpp>

#include "platform/call_stack.hpp"
#include "platform/relax.hpp"
#include "platform/stack_overflow.hpp"
#include "scheduler/runtime_registry.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

namespace teff::detail {

namespace {

// The worker whose slots the calling thread's deque has, since the thread was its last guest. Thieves of that
// worker's runtime may still look at the deque.
struct binding {
  worker* to = nullptr;
  std::uint64_t runtime = 0;  // scheduler::number(); the worker lives as long as that runtime does
  bool refuses = false;       // the thread may not be a guest any more
};
[[gnu::tls_model("initial-exec")]] constinit thread_local binding bound;

// From here on the deque is in nobody's sight.
void unbind() noexcept {
  if (bound.to == nullptr) return;
  runtime_registry::visit(bound.runtime, [](scheduler& runtime) noexcept {
    // The worker's deque has been another one since the guest left: who looks at it from the fence on sees
    // that.
    runtime.fences().everywhere();
    for (const auto& each : runtime.workers()) each->wait_until_it_looked();
  });
  bound.to = nullptr;
}

// Makes the calling thread's deque one for this worker's slots.
void bind(scheduler& runtime, worker& mine) noexcept {
  struct at_end_of_thread {
    ~at_end_of_thread() {
      unbind();
      bound.refuses = true;
    }
    handler_stack handlers;
  };
  static thread_local at_end_of_thread end;
  static_cast<void>(end);
  unbind();
  mine.open_deque();
  bound.to = &mine;
  bound.runtime = runtime.number();
}

bool enter(scheduler& runtime, worker& mine, among which) noexcept {
  const auto prepare = [&] {
    if (bound.to != &mine || bound.runtime != runtime.number()) bind(runtime, mine);
    mine.begin_guest();
  };
  auto& gate = runtime.gate();
  auto as = gate.enter(mine.index(), prepare);
  if (as == entered::no && which != among::vacant) as = gate.enter_called(mine.index(), prepare);
  if (as == entered::as_searcher) {
    mine.rise();  // before anybody else goes to sleep and relies on the bell
    mine.leave_search();
  }
  return as != entered::no;
}

// A worker that searches gives way within a microsecond or two, unless it is off its core.
bool enter_when_vacant(scheduler& runtime, worker& mine) noexcept {
  constexpr std::chrono::microseconds patience{10};
  constexpr int looks_before_yields = 64;  // its thread may wait for this core
  auto& gate = runtime.gate();
  if (!gate.ask_for(mine.index())) return false;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (int looks = 0; !gate.refuses(mine.index()); ++looks) {
    if (gate.is_vacant(mine.index()) && enter(runtime, mine, among::vacant)) return true;
    relax();
    if (looks >= looks_before_yields) std::this_thread::yield();
    if (std::chrono::steady_clock::now() >= deadline) {
      gate.stop_asking(mine.index());
      break;
    }
  }
  return false;
}

// Of worker_at(0) to worker_at(count - 1).
template <class At>
worker* enter_first(scheduler& runtime, among which, std::size_t count, At worker_at) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (worker& each = worker_at(i); enter(runtime, each, which)) return &each;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (worker& each = worker_at(i); enter_when_vacant(runtime, each)) return &each;
  }
  return nullptr;
}

worker* last_entered(const scheduler& runtime) noexcept {
  return bound.runtime == runtime.number() ? bound.to : nullptr;
}

// Best the worker of the processor that the thread is on; else the one whose last guest the thread was, else
// any. The thread then goes on on that worker's processor: here it would share one with the nearest worker's
// own thread, which is busy, until the system moves it some milliseconds later.
worker* enter_any(scheduler& runtime, among which) noexcept {
  auto* const nearest = runtime.worker_of_this_processor();
  if (nearest != nullptr && enter(runtime, *nearest, which)) return nearest;
  auto* const last = last_entered(runtime);
  const auto any = [&](std::size_t i) -> worker& { return *runtime.workers()[i]; };
  auto* const entered = last != nullptr && enter(runtime, *last, which)
                            ? last
                            : enter_first(runtime, which, runtime.workers().size(), any);
  if (entered != nullptr && nearest != nullptr) runtime.move_this_thread_to(entered->index());
  return entered;
}

// One that is free at once, and on no other processor.
worker* enter_at_hand(scheduler& runtime, among which) noexcept {
  const auto enter_it = [&](worker& mine) { return enter(runtime, mine, which); };
  if (auto* const nearest = runtime.worker_of_this_processor()) return enter_it(*nearest) ? nearest : nullptr;
  auto* const last = last_entered(runtime);
  if (last != nullptr && enter_it(*last)) return last;
  const auto found =
      std::ranges::find_if(runtime.workers(), [&](const auto& each) { return enter_it(*each); });
  return found == runtime.workers().end() ? nullptr : found->get();
}

// As enter_any(), but one of these workers.
worker* enter_one_of(scheduler& runtime, std::span<const unsigned> workers) noexcept {
  auto* const nearest = runtime.worker_of_this_processor();
  const bool has_nearest = nearest != nullptr && std::ranges::count(workers, nearest->index()) != 0;
  if (has_nearest && enter(runtime, *nearest, among::vacant)) return nearest;
  const auto named = [&](std::size_t i) -> worker& { return *runtime.workers()[workers[i]]; };
  auto* const entered = enter_first(runtime, among::vacant, workers.size(), named);
  if (entered != nullptr && nearest != nullptr) runtime.move_this_thread_to(entered->index());
  return entered;
}

// A spare thread of another runtime blocks, as to that one.
bool run_as(worker* mine, job& job) noexcept {
  if (mine == nullptr) return false;
  const thread_blocks elsewhere;
  const bool ran = mine->run_as_guest(job);
  static_cast<void>(mine->end_guest());
  return ran;
}

}  // namespace

void refuse_to_be_a_guest() noexcept {
  bound.refuses = true;
}

bool run_as_guest(scheduler& runtime, job& job, among which) noexcept {
  if (!call_stack::available || bound.refuses) return false;
  auto* mine = enter_any(runtime, which);
  // A worker that has just ended a call may have lost this core to who waited for it, before it could search.
  if (mine == nullptr) {
    std::this_thread::yield();
    mine = enter_any(runtime, which);
  }
  return run_as(mine, job);
}

bool run_as_guest_at_hand(scheduler& runtime, job& job, const detail::job& first) noexcept {
  if (!call_stack::available || bound.refuses) return false;
  const bool is_oldest = runtime.would_begin_with(first);
  // The only worker begins the others first: no other thread could.
  if (!is_oldest && runtime.workers().size() == 1) return false;
  auto* mine = enter_at_hand(runtime, among::vacant);
  if (mine == nullptr && is_oldest) mine = enter_at_hand(runtime, among::called);
  return run_as(mine, job);
}

bool take_part_as_guest(scheduler& runtime, std::span<const unsigned> workers, guests_part part) noexcept {
  if (!call_stack::available || bound.refuses) return false;
  struct taking_part : job {
    guests_part part;
  } job;
  job.run = [](detail::job& self_job) noexcept {
    const auto& mine = static_cast<taking_part&>(self_job).part;
    mine.begin(mine.what);
    worker::run_own_jobs_until(mine.done, mine.what);
  };
  job.part = part;
  return run_as(enter_one_of(runtime, workers), job);
}

}  // namespace teff::detail
