#include "teff/spawn/null_task.hpp"

#include <array>
#include <deque>
#include <mutex>

namespace teff::spawn {
namespace {

/// The counts of one thread, spread over a few counters by the task's index. An addition waits for the one
/// before it to the same counter. With a single counter, a null task would cost as much as that latency.
using place = std::array<null_counts, 8>;
struct alignas(128) own_place {
  place seen;
};

/// The places of all threads, those that have ended too. Threads keep pointers to them, so they never move.
struct places {
  std::mutex mutex;
  std::deque<own_place> all;
};

places& every_place() {
  static places of_this_program;
  return of_this_program;
}

constinit thread_local place* mine = nullptr;

[[gnu::noinline, gnu::cold]] void take_place() {
  places& every = every_place();
  const std::scoped_lock lock(every.mutex);
  mine = &every.all.emplace_back().seen;
}

}  // namespace

void null_task(std::int64_t index) noexcept {
  if (mine == nullptr) [[unlikely]]
    take_place();
  null_counts& seen = (*mine)[static_cast<std::size_t>(index) % mine->size()];
  seen.tasks += 1;
  seen.index_sum += index;
}

null_counts null_tasks_run() {
  places& every = every_place();
  const std::scoped_lock lock(every.mutex);
  null_counts sum;
  for (const own_place& each : every.all)
    for (const null_counts& part : each.seen) {
      sum.tasks += part.tasks;
      sum.index_sum += part.index_sum;
    }
  return sum;
}

void reset_null_tasks() {
  places& every = every_place();
  const std::scoped_lock lock(every.mutex);
  for (own_place& each : every.all) each.seen = {};
}

void add_null_tasks(const null_counts& elsewhere) {
  if (mine == nullptr) take_place();
  mine->front().tasks += elsewhere.tasks;
  mine->front().index_sum += elsewhere.index_sum;
}

}  // namespace teff::spawn
