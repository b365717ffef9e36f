#include "scheduler/guest.hpp"

#include "platform/call_stack.hpp"
#include "platform/relax.hpp"
#include "scheduler/runtime_registry.hpp"

#include <chrono>
#include <cstdint>

namespace teff::detail {

namespace {

// The worker whose slots the calling thread's deque has, since the thread was its last guest. Thieves of that
// worker's runtime may still look at the deque.
struct binding {
  worker* seat = nullptr;
  std::uint64_t runtime = 0;  // scheduler::number(); the worker lives as long as that runtime does
  bool refuses = false;        // the thread may not be a guest any more
};
[[gnu::tls_model("initial-exec")]] constinit thread_local binding bound;

// From here on the deque is in nobody's sight.
void unbind() noexcept {
  if (bound.seat == nullptr) return;
  runtime_registry::visit(bound.runtime, [](scheduler& runtime) noexcept {
    // The worker's deque has been another one since the guest left: who looks at it from the fence on sees
    // that.
    runtime.fences().everywhere();
    for (const auto& each : runtime.workers()) each->wait_until_it_looked();
  });
  bound.seat = nullptr;
}

// Makes the calling thread's deque one for this worker's slots.
void bind(scheduler& runtime, worker& seat) noexcept {
  struct at_end_of_thread {
    ~at_end_of_thread() {
      unbind();
      bound.refuses = true;
    }
  };
  static thread_local at_end_of_thread end;
  static_cast<void>(end);
  unbind();
  seat.open_deque();
  bound.seat = &seat;
  bound.runtime = runtime.number();
}

bool enter(scheduler& runtime, worker& seat) noexcept {
  return runtime.gate().enter(seat.index(), [&] {
    if (bound.seat != &seat || bound.runtime != runtime.number()) bind(runtime, seat);
    seat.begin_guest();
  });
}

// A worker that searches gives way within a microsecond or two, unless it is off its core.
bool enter_when_vacant(scheduler& runtime, worker& seat) noexcept {
  constexpr std::chrono::microseconds patience{10};
  auto& gate = runtime.gate();
  if (!gate.ask_for(seat.index())) return false;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!gate.refuses(seat.index())) {
    if (gate.is_vacant(seat.index()) && enter(runtime, seat)) return true;
    relax();
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  return false;
}

// Best the worker of the processor that the thread is on: another worker's thread would find it busy. Else
// the one whose last guest the thread was, else any.
worker* enter_any(scheduler& runtime) noexcept {
  auto* const nearest = runtime.worker_of_this_processor();
  auto* const last = bound.runtime == runtime.number() ? bound.seat : nullptr;
  for (auto* const each : {nearest, last}) {
    if (each != nullptr && enter(runtime, *each)) return each;
  }
  for (const auto& each : runtime.workers()) {
    if (enter(runtime, *each)) return each.get();
  }
  for (const auto& each : runtime.workers()) {
    if (enter_when_vacant(runtime, *each)) return each.get();
  }
  return nullptr;
}

}  // namespace

void refuse_to_be_a_guest() noexcept {
  bound.refuses = true;
}

bool run_as_guest(scheduler& runtime, job& job) noexcept {
  if (!call_stack::available || bound.refuses) return false;
  auto* const seat = enter_any(runtime);
  if (seat == nullptr) return false;
  const bool ran = seat->run_as_guest(job);
  seat->end_guest();
  return ran;
}

bool help_as_guest(scheduler& runtime, bool (*done)(const void*), const void* what) noexcept {
  struct helping : job {
    bool (*done)(const void*);
    const void* what;
  } help;
  help.run = [](job& self_job) noexcept {
    const auto& me = static_cast<helping&>(self_job);
    worker::help_while_there_is_work(me.done, me.what);
  };
  help.done = done;
  help.what = what;
  return run_as_guest(runtime, help) && done(what);
}

}  // namespace teff::detail
