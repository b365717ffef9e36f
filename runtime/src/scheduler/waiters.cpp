#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/detail/scheduler/waiters.hpp>

#include "scheduler/scheduler.hpp"

#include <algorithm>

namespace teff::detail {

void waiters::wait_until(bool (*done)(const void*), const void* what, source& awaited) {
  const auto at = here();
  if (at.runtime == &runtime_) {
    const traced_span span(event_kind::waiting, nullptr);
    {
      const std::lock_guard lock(mutex_);
      workers_.push_back(at.index);
    }
    count_.fetch_add(1, std::memory_order_seq_cst);
    help_until(done, what, &awaited);
    count_.fetch_sub(1, std::memory_order_seq_cst);
    const std::lock_guard lock(mutex_);
    workers_.erase(std::ranges::find(workers_, at.index));
    return;
  }
  const thread_blocks here_it_waits;
  count_.fetch_add(1, std::memory_order_seq_cst);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done(what); });
  }
  count_.fetch_sub(1, std::memory_order_seq_cst);
}

void waiters::wake() noexcept {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  for (const unsigned each : workers_) runtime_.gate().wake(each);
}

}  // namespace teff::detail
