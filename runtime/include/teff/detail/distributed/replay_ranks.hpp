// A rank's part of a distributed replay, as far as the type of its keys does not matter
// (src/distributed/replay.md).
#pragma once

#include <teff/detail/message/rank_table.hpp>
#include <teff/detail/replay/replay_core.hpp>
#include <teff/message.hpp>
#include <teff/transport.hpp>

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace teff::detail {

// A stamp beside a kept output of a task: of which iteration it is.
//
// The count of iterations that have ended when the output is there: 0 is none. One worker of one rank writes
// it; others read it, in memory that they share, or have a copy that packets keep.
template <template <class> class Atomic = std::atomic>
class replay_stamp {
 public:
  void raise(std::uint64_t count) noexcept {
    // Release: the output, and that the inputs have been read; pairs with reached(). That the look at the
    // bells of those who may sleep comes after it, the caller sees to.
    value_.store(count, std::memory_order_release);
  }
  // Of an iteration before the first one, `count` is below 1: there was none to wait for.
  [[nodiscard]] bool reached(std::int64_t count) const noexcept {
    // Acquire: as raise() says.
    return static_cast<std::int64_t>(value_.load(std::memory_order_acquire)) >= count;
  }
  // While no other thread of any rank uses it.
  void reset() noexcept { value_.store(0, std::memory_order_relaxed); }

 private:
  Atomic<std::uint64_t> value_{0};
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // so it may be shared between processes

// The outputs of a task that are kept, one after the other, each with its stamp behind it on the same cache
// line if it is small. The output of iteration i lies where the output of i - kept lay.
struct kept_slots {
  std::byte* first = nullptr;
  std::size_t stride = 0;
  std::size_t stamp_at = 0;
  std::uint64_t mask = 0;  // kept - 1; a power of two is kept

  [[nodiscard]] std::byte* at(std::uint64_t iteration) const noexcept {
    return first + (iteration & mask) * stride;
  }
  [[nodiscard]] replay_stamp<>& stamp(std::uint64_t iteration) const noexcept {
    return *reinterpret_cast<replay_stamp<>*>(at(iteration) + stamp_at);
  }
};

// The task whose outputs these are is to have ended, in the iteration so many before the one that waits.
struct rank_wait {
  kept_slots of;
  std::int64_t before = 0;

  [[nodiscard]] bool reached(std::uint64_t iteration) const noexcept {
    const auto at = static_cast<std::int64_t>(iteration) - before;
    return of.stamp(static_cast<std::uint64_t>(at)).reached(at + 1);
  }
};

// A worker of a rank.
struct rank_worker {
  std::int32_t rank;
  std::uint32_t worker;
  friend auto operator<=>(const rank_worker&, const rank_worker&) = default;
};

using list_position = std::array<std::uint32_t, 2>;  // a worker, and an index in its list

// A task of an iteration: the index-th in the list of its worker.
struct rank_task {
  rank_worker on;
  std::uint32_t index;
  friend auto operator<=>(const rank_task&, const rank_task&) = default;
};

// A task reads the output that another one has made so many iterations before. Until plan() has asked the
// other rank, only the rank of that task is known.
struct rank_read {
  rank_task from;
  std::uint32_t before;
};

// A task of this rank.
struct rank_planned_task {
  std::size_t bytes = 0;  // of its output
  std::vector<rank_read> reads;
};
using rank_lists = std::vector<std::vector<rank_planned_task>>;  // by worker

// A task of some rank reads an output of this rank, or its worker waits for the task that makes that.
struct rank_reader {
  std::uint32_t of_worker;
  std::uint32_t of_index;
  std::uint32_t worker;
  std::uint32_t index = 0;
  std::uint32_t before = 0;
  friend auto operator<=>(const rank_reader&, const rank_reader&) = default;
};

// How many outputs are kept of a task with so many bytes, whose readers are at most so many iterations
// behind: a power of two.
[[nodiscard]] std::uint32_t outputs_kept(std::size_t bytes, std::uint32_t most_before) noexcept;

// The workers of all ranks that are told when a task has ended.
struct rank_signals;

// A task as its worker runs it.
struct rank_step {
  // Where its waits and inputs end; they begin where the waits and inputs of the task before it end.
  std::uint32_t waits_end = 0;
  std::uint32_t inputs_end = 0;
  std::size_t bytes = 0;
  kept_slots output;
  const rank_signals* tells = nullptr;  // null: nobody waits for its end
};

// The work of one worker of this rank in an iteration.
struct rank_part {
  unsigned worker = 0;
  std::vector<rank_step> steps;
  std::vector<rank_wait> waits;
  std::vector<rank_task> awaited;      // of each wait: the task that it waits for
  std::vector<std::uint32_t> befores;  // of each input: how many iterations before it was made
  // Each input lies here once for each phase of the kept outputs. The number of phases is a power of two.
  std::vector<std::span<const std::byte>> inputs;
  std::uint64_t phase_mask = 0;
  std::uint64_t most_before = 0;
};

class communicator_core;

class replay_ranks {
 public:
  // All ranks make one, in the same order.
  explicit replay_ranks(communicator& like);
  ~replay_ranks();

  // For its messages: the phases of planning, and the ends of replays, are the epochs.
  [[nodiscard]] communicator& messages() noexcept { return messages_; }
  [[nodiscard]] const communicator& messages() const noexcept { return messages_; }
  [[nodiscard]] scheduler& workers() const noexcept { return private_access::internals(runtime_); }

  // The name of a task in errors; as long as this lives.
  void name_tasks(std::function<std::string(const rank_task&)> name) { name_of_ = std::move(name); }
  [[nodiscard]] std::string named(const rank_task& task) const;

  // For the handler of a message of that rank: which of its tasks read outputs of this one. All handlers have
  // returned on all ranks before plan() is called.
  void note_readers(int rank, std::vector<rank_reader> readers);
  // All ranks call it, once. The first list is worker 0's. The reads from a rank stand in the lists in the
  // order in which that rank was told of them; plan() fills in the tasks that they read. Throws what
  // communicator::run() throws; misuse on all ranks if tasks wait for each other.
  void plan(rank_lists& lists);

  // The function that the worker of a part calls.
  using part_runner = replay_core::part_runner;
  // So many iterations on all ranks. Throws what a part failed with, or rank_failed.
  void replay(std::uint64_t times, part_runner runner);

  // Of iterations that have ended.
  [[nodiscard]] std::uint64_t iterations() const noexcept { return iterations_; }
  [[nodiscard]] const std::vector<rank_part>& parts() const noexcept { return parts_; }

  // ---- For a part, on its worker ----

  // Relaxed: a body that is called all the same is no harm.
  [[nodiscard]] bool failed() const noexcept { return failed_->load(std::memory_order_relaxed) != 0; }
  // Returns when the awaited task has ended; false: when the replay has failed.
  [[nodiscard]] bool wait_for(const rank_wait& wait, std::uint64_t iteration, std::size_t part) noexcept;
  // Wakes the workers that wait for this task.
  void ended(const rank_step& step, std::uint64_t iteration) noexcept;
  // The first failure is what replay() throws, here; the other ranks are told `where`, and what it says.
  void fail(std::exception_ptr why, const std::string& where) noexcept;

 private:
  struct shared_bell;
  struct shared_head;
  struct table_entry;
  struct known_rank;
  struct long_wait;

  [[nodiscard]] communicator_core& core() noexcept;
  [[nodiscard]] known_rank& at(int rank);
  [[nodiscard]] std::int64_t tasks_of(const rank_worker& on) noexcept;
  [[nodiscard]] std::pair<rank_task, std::int64_t> awaited_by(const replay_need& each) noexcept;
  void refuse_cycles(const rank_lists& lists);
  void lay_out(const rank_lists& lists);
  void tell_outputs();
  [[nodiscard]] std::vector<replay_need> needs_of(rank_lists& lists);
  void tell_needs(const std::vector<replay_need>& needs);
  void compile(const rank_lists& lists, const std::vector<replay_need>& needs);
  void meet(known_rank& there);
  void tell_far(int rank, const known_rank& there);
  [[nodiscard]] rank_part part_of(const rank_lists& lists, std::uint32_t worker,
                                  const std::vector<replay_need>& needs);

  [[nodiscard]] static shared_bell& bell_of(const std::byte* memory, std::size_t worker) noexcept;
  [[nodiscard]] static const class asymmetric_fence& own_fence() noexcept;
  void fence_everywhere() const noexcept;
  void ring_own() noexcept;
  void take(int from, std::span<const std::byte> bytes);
  void send(int to, std::uint64_t entry, std::uint64_t iteration, std::span<const std::byte> output);
  void spread_failure() noexcept;
  void restart();
  void expect_same_times();
  void expect_same_times_as(int rank, std::uint64_t times) const;
  [[nodiscard]] std::string waits_in_words() const;
  void sleep_until_told(const rank_wait& wait, std::uint64_t iteration, std::size_t part) noexcept;

  runtime& runtime_;
  transport& transport_;
  communicator messages_;
  message<int, std::uint64_t> tell_times_;
  // Where the outputs of a rank lie, and which of them the other rank reads.
  message<int, memory_name, std::vector<std::uint32_t>, std::vector<table_entry>, std::vector<list_position>>
      tell_outputs_;
  message<int, bool, bool, std::vector<rank_reader>> tell_needs_;
  std::function<std::string(const rank_task&)> name_of_;
  rank_table<known_rank> known_;
  std::vector<std::pair<int, known_rank*>> peers_;  // this rank, and those from or to which outputs go

  std::optional<replay_core> core_;  // how the parts begin and end
  std::vector<rank_part> parts_;
  std::vector<rank_signals> signals_;  // by number of the task
  std::shared_ptr<std::byte> memory_;  // the outputs of this rank
  std::size_t bells_ = 0;              // how many lie in memory_: one for each worker
  // In memory_. It is 1 when a part of this rank or of another one has failed.
  std::atomic<std::uint32_t>* failed_ = nullptr;
  bool has_far_ = false;
  // Whether this rank and all near ones have a fence that a sleeper can have the others execute.
  bool fences_are_light_ = false;

  std::unique_ptr<long_wait[]> long_waits_;  // by part, for the watchdog

  std::uint64_t replays_ = 0;  // the number of the replay that goes on, or was the last
  std::uint64_t times_ = 0;    // its iterations
  std::uint64_t iterations_ = 0;
  bool broken_ = false;  // the replay before has failed
  bool leaves_ = false;  // is being destroyed: takes part in replays of others, and runs none
  std::atomic<bool> failure_spread_{false};
};

}  // namespace teff::detail
