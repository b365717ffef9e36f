#include "scheduler/runtime_registry.hpp"

#include <teff/detail/scheduler/process.hpp>

#include "platform/process_wide.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <deque>
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
  std::deque<std::atomic<std::uint64_t>> places;  // 0: free

  auto& place_of(std::uint64_t number) {
    const auto found = std::ranges::find_if(
        places, [=](const auto& each) { return each.load(std::memory_order_relaxed) == number; });
    return found != places.end() ? *found : places.emplace_back(0);
  }
  void each_of_this_process(auto visit) const {
    for (auto* const each : all) {
      if (!each->is_of_parent()) visit(*each);
    }
  }
};
using registered = process_wide<runtimes>;

}  // namespace

const std::atomic<std::uint64_t>& add(scheduler& begun) {
  return registered::with([&](runtimes& here) -> const std::atomic<std::uint64_t>& {
    auto& place = here.place_of(0);
    here.all.push_back(&begun);
    place.store(begun.number(), std::memory_order_relaxed);
    return place;
  });
}

void remove(const scheduler& ended) noexcept {
  registered::with([&](runtimes& here) {
    std::erase(here.all, &ended);
    here.place_of(ended.number()).store(0, std::memory_order_relaxed);
  });
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
