#include <teff/detail/scheduler/on_workers.hpp>
#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>
#include <teff/error.hpp>
#include <teff/runtime.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/spare_threads.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

namespace teff {

namespace {

constinit std::atomic<runtime*> made{nullptr};
constinit detail::spin_lock making;
// Only so that a leak checker finds it.
constinit runtime* of_parent = nullptr;

// In a child process: another thread may have held the lock.
[[maybe_unused]] const int watches_forks = ::pthread_atfork(nullptr, nullptr, [] {
  making.unlock();
  if (auto* const last = made.exchange(nullptr, std::memory_order_relaxed)) of_parent = last;
});

// Set before the exit shuts down the runtime: a caller that finds it shut down reads whether the exit did it.
constinit std::atomic<bool> exits{false};

// The runtime itself is never destroyed: threads that run on after the end of main may still use it.
void shut_down_at_exit() noexcept {
  exits.store(true, std::memory_order_relaxed);
  // Acquire: pairs with the release in default_runtime(), as all of these.
  if (auto* const kept = made.load(std::memory_order_acquire))
    detail::private_access::internals(*kept).shut_down_at_exit();
}

}  // namespace

runtime& default_runtime() {
  if (auto* const there = made.load(std::memory_order_acquire)) return *there;
  const std::lock_guard lock(making);
  if (auto* const there = made.load(std::memory_order_relaxed)) return *there;
  auto* const mine = new runtime;
  static_cast<void>(std::atexit(shut_down_at_exit));  // if that fails, its workers end with the process
  made.store(mine, std::memory_order_release);        // pairs with the acquires
  return *mine;
}

namespace detail {

bool run_on_default_runtime(awaited_job& job) {
  auto* const runtime = begin_outside();
  if (runtime == nullptr) return false;
  undo_if_thrown([&] { runtime->run_in_call(job); }, [&] { runtime->end_call(); });
  runtime->end_call();
  return true;
}

scheduler* begin_outside() {
  if (spare_threads::is_here()) return nullptr;
  auto* const kept = exits.load(std::memory_order_relaxed) ? made.load(std::memory_order_acquire) : nullptr;
  if (kept != nullptr && private_access::internals(*kept).is_shut_down()) return nullptr;
  auto& runtime = detail::private_access::internals(default_runtime());
  if (runtime.begin_call_unless_shut_down()) return &runtime;
  if (!exits.load(std::memory_order_relaxed)) throw runtime_was_shut_down();
  return nullptr;
}

void end_outside(scheduler& runtime, awaited_job& request) {
  expect_own_process(runtime);
  if (withdraw_request(runtime, request)) {
    runtime.run_in_call(request);
  } else {
    request.ended.wait();
  }
  runtime.end_call();
}

}  // namespace detail

}  // namespace teff
