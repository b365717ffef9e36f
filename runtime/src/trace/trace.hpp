// What one runtime's workers did and when, for Perfetto; of a job of several ranks, all in one file
// (README.md).
#pragma once

#include <teff/detail/scheduler/tracing.hpp>
#include <teff/transport.hpp>

#include "platform/ticks.hpp"
#include "trace/rank_clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teff::detail {

struct trace_event {
  std::uint64_t began;  // ticks
  std::uint64_t ended;  // the same for an instant
  union {
    const char* name;       // null: the activity's own
    std::uint64_t message;  // of `send` and `arrival`: its number, which no other one of the job has
  };
  std::uint32_t other;  // another worker's index: a steal's victim; another rank: a message's
  event_kind what;
};
static_assert(sizeof(trace_event) == 32, "two events a cache line");

// The last events of one worker. Only that worker writes; others read counts at any time, events when its
// thread has ended.
class trace_ring {
 public:
  explicit trace_ring(std::size_t capacity, unsigned worker = 0)
      : events_(std::make_unique_for_overwrite<trace_event[]>(capacity)),
        capacity_(capacity),
        worker_(worker) {}

  void add(const trace_event& event) noexcept {
    events_[next_] = event;
    next_ = next_ + 1 == capacity_ ? 0 : next_ + 1;
    ++added_;
    if (event.what == event_kind::task) count(tasks);
  }
  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // The number of a message that this worker of rank `rank` sends.
  [[nodiscard]] std::uint64_t next_message(int rank) noexcept {
    return static_cast<std::uint64_t>(rank) << 42 | std::uint64_t{worker_} << 32 | ++messages_;
  }
  static int sender_of(std::uint64_t message) noexcept { return static_cast<int>(message >> 42); }

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
  unsigned worker_;
  std::uint32_t messages_ = 0;  // that it has sent; begins anew when 2^32 are surely forgotten
};

// The file and what will stand in it.
class trace {
 public:
  // `path`: %p in it becomes the process's number; the second and later traces of a process have their own
  // number before the suffix. `option`: what has named it. Throws invalid_option if the file can't be opened.
  trace(const std::string& path, const char* option, unsigned workers, std::size_t events_per_worker);

  [[nodiscard]] trace_ring& ring(unsigned worker) noexcept { return *rings_[worker]; }

  // ---- Of a job of several ranks; any thread may call these ----

  // Of the first job that this runtime belongs to.
  void belong_to(int rank, int ranks);
  // What a communicator of this runtime, say, has sent: when it ends.
  void add_messages(const std::string& whose, const message_counters& all);
  // What this rank asks rank 0 about its clock; empty: nothing, for now. `begins`: after a while it is time
  // to ask again.
  [[nodiscard]] std::string clock_question(bool begins);
  // Rank 0's answer.
  [[nodiscard]] std::string clock_answer(std::string_view question) const;
  void take_clock_answer(std::string_view answer);

  // When all workers have ended. What goes wrong is said on standard error: a trace is not worth an
  // exception.
  void write(const tick_scale& scale) noexcept;

 private:
  class writer;
  void write_to(class trace_file& file, std::uint64_t lost, const tick_scale& scale) const;

  const std::string path_;
  const std::uint64_t number_;  // of the job, which rank 0 tells the others
  std::vector<std::unique_ptr<trace_ring>> rings_;

  std::mutex mutex_;  // guards what follows
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<std::pair<std::string, message_counters>> messages_;
  rank_clock clock_;
  std::string path_of_rank_0_;  // empty: not told
  std::uint64_t number_of_rank_0_ = 0;
};

}  // namespace teff::detail
