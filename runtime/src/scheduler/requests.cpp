#include "scheduler/requests.hpp"

#include <teff/detail/scheduler/requests.hpp>

#include "scheduler/runtime_registry.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace teff::detail {

constinit thread_local requests* requests::run_here_ = nullptr;

// A spare thread's turn of running requests.
struct requests::lent_thread : job {
  explicit lent_thread(requests& lent)
      : job{[](job& this_job) noexcept {
          const std::unique_ptr<lent_thread> me(&static_cast<lent_thread&>(this_job));
          me->of.run_all();
        }},
        of(lent) {}
  requests& of;
};

// seq_cst, here and where `running_` and `sleepers_` change: who pushes a request and sees that a thread runs
// requests is seen by the last look of that thread; who pushes one and sees no sleeper is seen by that.
bool requests::enter() noexcept {
  auto running = running_.load(std::memory_order_seq_cst);
  while (running < std::max(1U, sleepers_.load(std::memory_order_seq_cst))) {
    if (running_.compare_exchange_weak(running, running + 1, std::memory_order_seq_cst)) return true;
  }
  return false;
}

void requests::lend() noexcept {
  if (queue_.empty() || !enter()) return;
  auto* const turn = new (std::nothrow) lent_thread(*this);
  if (turn != nullptr && spare_.run(*turn)) return;
  delete turn;
  running_.fetch_sub(1, std::memory_order_seq_cst);
}

void requests::run_all() noexcept {
  run_here_ = this;
  do {
    while (auto* const next = queue_.pop()) next->run(*next);
    running_.fetch_sub(1, std::memory_order_seq_cst);
  } while (!queue_.empty() && enter());
  run_here_ = nullptr;
}

void requests::begin_sleep() noexcept {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  lend();
}

void requests::lend_for_sleepers() noexcept {
  if (sleepers_.load(std::memory_order_seq_cst) != 0) lend();
}

void requests::leave() noexcept {
  running_.fetch_sub(1, std::memory_order_seq_cst);
  lend();
}

void requests::stop() noexcept {
  spare_.stop();
  while (auto* const done = queue_.pop()) done->run(*done);
}

void submit_request(scheduler& runtime, job& job) noexcept {
  runtime.submit_request(job);
}

void begin_call_if_alive(scheduler& runtime) {
  runtime_registry::begin_call(runtime);
}

void run_as_activity(const void* of, void (*body)(void*) noexcept, void* what) noexcept {
  if (auto* const me = worker::current()) {
    me->run_as_activity(of, body, what);
  } else {
    body(what);
  }
}

bool works_for(const scheduler& runtime) noexcept {
  const auto* const me = worker::current();
  return (me != nullptr && &me->all() == &runtime) || runtime.requests().owns_this_thread();
}

bool has_room_for_awaited(const scheduler* runtime) noexcept {
  const auto* const me = worker::current();
  return me != nullptr && &me->all() == runtime && me->has_room_for_foreign_tasks();
}

bool run_aside(awaited_job& job) noexcept {
  job.submitter = here();
  if (!job.submitter.runtime->requests().run_aside(job)) return false;
  wait_until_set(job.ended, job.submitter);
  return true;
}

thread_blocks::thread_blocks() noexcept {
  if (auto* const lent = requests::run_here()) lent->leave();
}

thread_blocks::~thread_blocks() {
  if (auto* const lent = requests::run_here()) lent->come_back();
}

}  // namespace teff::detail
