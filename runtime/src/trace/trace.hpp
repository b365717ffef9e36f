// What one runtime's workers did and when, for Perfetto (README.md).
#pragma once

#include <teff/detail/scheduler/tracing.hpp>

#include "platform/ticks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace teff::detail {

struct trace_event {
  std::uint64_t began;  // ticks
  std::uint64_t ended;  // the same for an instant
  const char* name;     // null: the activity's own
  std::uint32_t other;  // another worker's index: a steal's victim
  event_kind what;
};
static_assert(sizeof(trace_event) == 32, "two events a cache line");

// The last events of one worker. Only that worker writes; others read counts at any time, events when its
// thread has ended.
class trace_ring {
 public:
  explicit trace_ring(std::size_t capacity)
      : events_(std::make_unique_for_overwrite<trace_event[]>(capacity)), capacity_(capacity) {}

  void add(const trace_event& event) noexcept {
    events_[next_] = event;
    next_ = next_ + 1 == capacity_ ? 0 : next_ + 1;
    ++added_;
    if (event.what == event_kind::task) count(tasks);
  }
  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // Those that are kept, in the order of their beginning, what contains another before it.
  [[nodiscard]] std::vector<trace_event> in_order() const;
  [[nodiscard]] std::uint64_t lost() const noexcept { return added_ > capacity_ ? added_ - capacity_ : 0; }

  std::atomic<std::uint64_t> tasks{0};
  std::atomic<std::uint64_t> spawned{0};

 private:
  std::unique_ptr<trace_event[]> events_;
  std::size_t capacity_;
  std::size_t next_ = 0;
  std::uint64_t added_ = 0;
};

// The file and what will stand in it.
class trace {
 public:
  // `path`: %p in it becomes the process's number; the second and later traces of a process have their own
  // number before the suffix. Throws invalid_option if the file can't be opened.
  trace(const std::string& path, unsigned workers, std::size_t events_per_worker);

  [[nodiscard]] trace_ring& ring(unsigned worker) noexcept { return *rings_[worker]; }
  // When all workers have ended. What goes wrong is said on standard error: a trace is not worth an
  // exception.
  void write(const tick_scale& scale) noexcept;

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::vector<std::unique_ptr<trace_ring>> rings_;
};

}  // namespace teff::detail
