#include "scheduler/runtime_registry.hpp"

#include <teff/detail/scheduler/process.hpp>

#include <pthread.h>

#include <atomic>

namespace teff::detail {

namespace {

// Relaxed: written while a process has one thread.
constinit std::atomic<unsigned> forks{0};

[[maybe_unused]] const int watches_forks = ::pthread_atfork(nullptr, nullptr, [] {
  forks.store(this_process() + 1, std::memory_order_relaxed);
  // The thread is one as any other. Frames on the stack of one that was a worker use its deque.
  const bool was_worker = worker::begin_child();
  this_thread = {.refuses_to_be_a_guest = was_worker || this_thread.refuses_to_be_a_guest};
});

}  // namespace

unsigned this_process() noexcept {
  return forks.load(std::memory_order_relaxed);
}

}  // namespace teff::detail
