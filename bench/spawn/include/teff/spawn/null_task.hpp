#pragma once

#include <cstdint>

namespace teff::spawn {

/// Which null tasks have run: their number, and the sum of their indices, which tells a task that ran twice
/// from one that did not run.
struct null_counts {
  std::int64_t tasks = 0;
  std::int64_t index_sum = 0;

  friend bool operator==(const null_counts&, const null_counts&) = default;
};

/// A task that does nothing but count itself, in counters of the thread that runs it. It is compiled apart
/// from its callers, so that no compiler can merge a million calls into one.
void null_task(std::int64_t index) noexcept;

/// The counts of all threads since the last reset. No null task may run during either call.
[[nodiscard]] null_counts null_tasks_run();
void reset_null_tasks();
/// Counts what threads of other processes have counted.
void add_null_tasks(const null_counts& elsewhere);

}  // namespace teff::spawn
