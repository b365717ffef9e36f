#include "scheduler/runtime_registry.hpp"

#include "scheduler/scheduler.hpp"

#include <mutex>
#include <vector>

namespace teff::detail::runtime_registry {

namespace {

constinit std::mutex mutex;
std::vector<scheduler*>& all() {
  static auto& list = *new std::vector<scheduler*>;  // never destroyed: threads may end after static objects
  return list;
}

}  // namespace

void add(scheduler& begun) {
  const std::lock_guard lock(mutex);
  all().push_back(&begun);
}

void remove(const scheduler& ended) noexcept {
  const std::lock_guard lock(mutex);
  std::erase(all(), &ended);
}

void begin_call(const scheduler& runtime) {
  const std::lock_guard lock(mutex);
  for (auto* const each : all()) {
    if (each == &runtime) return each->begin_call();
  }
  throw runtime_was_shut_down();
}

void wake(const scheduler& runtime, unsigned worker) noexcept {
  const std::lock_guard lock(mutex);
  for (auto* const each : all()) {
    if (each == &runtime) each->gate().wake(worker);
  }
}

void wake_owner(const task_slot* slot) noexcept {
  const std::lock_guard lock(mutex);
  for (auto* const each : all()) {
    for (const auto& worker : each->workers()) {
      if (worker->owns(slot)) each->gate().wake(worker->index());
    }
  }
}

void visit(std::uint64_t number, void (*do_to)(scheduler&) noexcept) noexcept {
  const std::lock_guard lock(mutex);
  for (auto* const each : all()) {
    if (each->number() == number) do_to(*each);
  }
}

}  // namespace teff::detail::runtime_registry
