#include "scheduler/runtime_registry.hpp"

#include "platform/process_wide.hpp"
#include "scheduler/scheduler.hpp"

#include <pthread.h>

#include <atomic>
#include <vector>

namespace teff::detail::runtime_registry {

namespace {

struct runtimes {
  std::vector<scheduler*> alive;
  // Never destroyed here, since their threads are not here to end. Kept, so that nobody takes them for lost
  // memory.
  std::vector<scheduler*> of_parent;

  void begin_child() {
    of_parent.insert(of_parent.end(), alive.begin(), alive.end());
    alive.clear();
  }
};
using registered = process_wide<runtimes>;

// Relaxed: written while a process has one thread.
constinit std::atomic<unsigned> forks{0};

[[maybe_unused]] const int watches_forks = ::pthread_atfork(nullptr, nullptr, [] {
  forks.store(generation() + 1, std::memory_order_relaxed);
  worker::begin_child();
});

}  // namespace

unsigned generation() noexcept {
  return forks.load(std::memory_order_relaxed);
}

void add(scheduler& begun) {
  registered::with([&](runtimes& all) { all.alive.push_back(&begun); });
}

void remove(const scheduler& ended) noexcept {
  registered::with([&](runtimes& all) { std::erase(all.alive, &ended); });
}

void wake(const scheduler& runtime, unsigned worker) noexcept {
  registered::with([&](runtimes& all) {
    for (auto* const each : all.alive) {
      if (each == &runtime) each->gate().wake(worker);
    }
  });
}

void wake_owner(const task_slot* slot) noexcept {
  registered::with([&](runtimes& all) {
    for (auto* const each : all.alive) {
      for (const auto& worker : each->workers()) {
        if (worker->owns(slot)) each->gate().wake(worker->index());
      }
    }
  });
}

}  // namespace teff::detail::runtime_registry
