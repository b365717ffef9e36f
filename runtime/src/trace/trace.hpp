// The trace of one runtime's workers, for Perfetto. The ranks of a job write one file (README.md).
#pragma once

#include <teff/detail/trace/recording.hpp>
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

// The type in a compiler's spelling of spelling_of<T>(): "... [with T = TYPE]" or "... [T = TYPE]".
inline std::string_view type_in(std::string_view spelling) {
  constexpr std::string_view before = "T = ";
  const auto start = spelling.find(before);
  if (start == std::string_view::npos || spelling.back() != ']') return spelling;
  spelling.remove_suffix(1);
  return spelling.substr(start + before.size());
}

struct trace_event {
  std::uint64_t began;  // ticks
  std::uint64_t ended;  // the same for an instant
  union {
    const char* name;       // null: the name of the kind
    std::uint64_t message;  // of `send` and `arrival`: the message's number, unique in the job
  };
  std::uint32_t other;  // the victim of a steal, the other rank of a message, a capacity in thousandths
  event_kind what;
};
static_assert(sizeof(trace_event) == 32, "two events a cache line");

// The last events of one worker. Only that worker writes. Other threads read the counts at any time, and the
// events after the worker's thread has ended.
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

  // Gives a number to a message that this worker of rank `rank` sends.
  [[nodiscard]] std::uint64_t next_message(int rank) noexcept {
    return static_cast<std::uint64_t>(rank) << 42 | std::uint64_t{worker_} << 32 | ++messages_;
  }
  static int sender_of(std::uint64_t message) noexcept { return static_cast<int>(message >> 42); }

  // The events that are kept, in the order of their beginning. An event that contains another one comes
  // before it.
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
  std::uint32_t messages_ = 0;  // sent so far; wraps round when the first of 2^32 is surely forgotten
};

// The rings of all workers, and the file to which they are written.
class trace {
 public:
  // `path`: %p in it becomes the process's number. The second and later traces of a process get a number
  // before the suffix. `option`: the name of the option that gave the path. Throws invalid_option if the file
  // can't be opened.
  trace(const std::string& path, const char* option, unsigned workers, std::size_t events_per_worker);

  [[nodiscard]] trace_ring& ring(unsigned worker) noexcept { return *rings_[worker]; }

  // ---- Of a job of several ranks; any thread may call these ----

  // The rank of this runtime in a job. The first job counts.
  void belong_to(int rank, int ranks);
  // Adds the counters of a communicator of this runtime, when it ends.
  void add_messages(const std::string& whose, const message_counters& all);
  // The next question about rank 0's clock; empty: none now. `begins`: an epoch begins or ends here, which is
  // a time for a new series of questions.
  [[nodiscard]] std::string clock_question(bool begins);
  [[nodiscard]] std::string clock_answer(std::string_view question) const;
  void take_clock_answer(std::string_view answer);

  // Writes the file. To be called when all workers have ended. Prints failures to stderr: a trace is not
  // worth an exception.
  void write(const tick_scale& scale) noexcept;

 private:
  class writer;
  void take_job_of_process();

  const std::string path_;
  const std::uint64_t number_;  // of the job; the other ranks get rank 0's
  std::vector<std::unique_ptr<trace_ring>> rings_;

  std::mutex mutex_;  // guards what follows
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<std::pair<std::string, message_counters>> messages_;
  rank_clock clock_;
  std::string path_of_rank_0_;  // empty: unknown
  std::uint64_t number_of_rank_0_ = 0;
};

}  // namespace teff::detail
