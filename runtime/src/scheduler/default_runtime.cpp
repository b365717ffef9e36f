#include <teff/detail/scheduler/on_workers.hpp>
#include <teff/detail/scheduler/requests.hpp>
#include <teff/error.hpp>
#include <teff/runtime.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/spare_threads.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace teff {

namespace {

// The default runtime of a process. A child of fork() begins with a new made_once, since a thread of the
// parent may hold the lock. It keeps a pointer to the parent's, which a leak checker would take for lost
// otherwise.
struct made_once {
  std::mutex making;
  std::atomic<runtime*> made{nullptr};
  made_once* of_parent = nullptr;
};
constinit made_once of_first_process;
constinit std::atomic<made_once*> of_this_process{&of_first_process};  // null: a child that has not asked
constinit made_once* of_parent = nullptr;  // written while a process has one thread

[[maybe_unused]] const int watches_forks = ::pthread_atfork(nullptr, nullptr, [] {
  if (auto* const last = of_this_process.exchange(nullptr, std::memory_order_relaxed)) of_parent = last;
});

made_once& once_here() {
  // Acquire, as the failed exchange: pairs with the release of another thread of the child that has made it.
  if (auto* const found = of_this_process.load(std::memory_order_acquire)) return *found;
  auto mine = std::make_unique<made_once>();
  mine->of_parent = of_parent;
  made_once* found = nullptr;
  return of_this_process.compare_exchange_strong(found, mine.get(), std::memory_order_acq_rel)
             ? *mine.release()
             : *found;
}

// Set before the exit shuts down the runtime: a caller that finds it shut down reads whether the exit did it.
constinit std::atomic<bool> exits{false};

runtime* made_here() noexcept {
  auto* const here =
      of_this_process.load(std::memory_order_acquire);  // pairs with the release in once_here()
  return here == nullptr ? nullptr : here->made.load(std::memory_order_acquire);
}

// The runtime itself is never destroyed: threads that run on after the end of main may still use it.
void shut_down_at_exit() noexcept {
  exits.store(true, std::memory_order_relaxed);
  if (auto* const kept = made_here()) detail::private_access::internals(*kept).shut_down_at_exit();
}

// Whether a loop or join that the calling thread begins, which is no worker, runs in order on that thread.
bool runs_in_order() noexcept {
  if (detail::spare_threads::is_here()) return true;
  auto* const kept = exits.load(std::memory_order_relaxed) ? made_here() : nullptr;
  return kept != nullptr && detail::private_access::internals(*kept).is_shut_down();
}

}  // namespace

runtime& default_runtime() {
  auto& only = once_here();
  if (auto* const made = only.made.load(std::memory_order_acquire)) return *made;
  const std::lock_guard lock(only.making);
  if (auto* const made = only.made.load(std::memory_order_relaxed)) return *made;
  auto* const made = new runtime;
  static_cast<void>(std::atexit(shut_down_at_exit));  // if that fails, its workers end with the process
  only.made.store(made, std::memory_order_release);   // pairs with the acquires
  return *made;
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
  if (runs_in_order()) return nullptr;
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
