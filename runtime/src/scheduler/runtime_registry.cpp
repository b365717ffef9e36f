#include "scheduler/runtime_registry.hpp"

#include <teff/detail/scheduler/process.hpp>

#include "platform/process_wide.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"

#include <pthread.h>

#include <atomic>
#include <vector>

namespace teff::detail {

namespace {

// Relaxed: written while a process has one thread.
constinit std::atomic<unsigned> forks{0};

[[maybe_unused]] const int watches_forks = ::pthread_atfork(nullptr, nullptr, [] {
  forks.store(this_process() + 1, std::memory_order_relaxed);
  if (worker::begin_child()) refuse_to_be_a_guest();
  requests::begin_child();
  spare_threads::begin_child();
});

}  // namespace

unsigned this_process() noexcept {
  return forks.load(std::memory_order_relaxed);
}

namespace runtime_registry {

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

}  // namespace

void add(scheduler& begun) {
  registered::with([&](runtimes& all) { all.alive.push_back(&begun); });
}

void remove(const scheduler& ended) noexcept {
  registered::with([&](runtimes& all) { std::erase(all.alive, &ended); });
}

void begin_call(const scheduler& runtime) {
  registered::with([&](runtimes& all) {
    for (const auto* const list : {&all.alive, &all.of_parent}) {
      for (auto* const each : *list) {
        if (each == &runtime) return each->begin_call();
      }
    }
    throw runtime_was_shut_down();
  });
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

void visit(std::uint64_t number, void (*do_to)(scheduler&) noexcept) noexcept {
  registered::with([&](runtimes& all) {
    for (auto* const each : all.alive) {
      if (each->number() == number) do_to(*each);
    }
  });
}

}  // namespace runtime_registry

}  // namespace teff::detail
