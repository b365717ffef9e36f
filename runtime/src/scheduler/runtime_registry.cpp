#include "scheduler/runtime_registry.hpp"

#include <teff/detail/scheduler/process.hpp>

#include "platform/process_wide.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"

#include <pthread.h>

#include <algorithm>
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

// The runtimes of the process from which this one was forked stay. They are never destroyed here, since their
// threads are not here to end.
struct runtimes {
  std::vector<scheduler*> all;

  void each_of_this_process(auto visit) const {
    for (auto* const each : all) {
      if (!each->is_of_parent()) visit(*each);
    }
  }
};
using registered = process_wide<runtimes>;

}  // namespace

void add(scheduler& begun) {
  registered::with([&](runtimes& here) { here.all.push_back(&begun); });
}

void remove(const scheduler& ended) noexcept {
  registered::with([&](runtimes& here) { std::erase(here.all, &ended); });
}

void begin_call(const scheduler& runtime) {
  registered::with([&](runtimes& here) {
    const auto found = std::ranges::find(here.all, &runtime);
    if (found == here.all.end()) throw runtime_was_shut_down();
    (*found)->begin_call();
  });
}

void wake(const scheduler& runtime, unsigned worker) noexcept {
  registered::with([&](const runtimes& here) {
    here.each_of_this_process([&](scheduler& each) {
      if (&each == &runtime) each.gate().wake(worker);
    });
  });
}

void wake_owner(const task_slot* slot) noexcept {
  registered::with([&](const runtimes& here) {
    here.each_of_this_process([&](scheduler& each) {
      for (const auto& worker : each.workers()) {
        if (worker->deque().owns(slot)) each.gate().wake(worker->index());
      }
    });
  });
}

void visit(std::uint64_t number, void (*do_to)(scheduler&) noexcept) noexcept {
  registered::with([&](const runtimes& here) {
    here.each_of_this_process([&](scheduler& each) {
      if (each.number() == number) do_to(each);
    });
  });
}

}  // namespace runtime_registry

}  // namespace teff::detail
