// A rank's part of a distributed replay, as far as the type of its keys does not matter
// (src/distributed/replay.md).
#pragma once

#include <teff/detail/distributed/rank_plan.hpp>
#include <teff/detail/distributed/replay_stamp.hpp>
#include <teff/detail/replay/replay_core.hpp>
#include <teff/message.hpp>
#include <teff/transport.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace teff::detail {

// A task as its worker runs it.
struct rank_step {
  // Where its waits and inputs end; they begin where the waits and inputs of the task before it end.
  std::uint32_t waits_end = 0;
  std::uint32_t inputs_end = 0;
  bool is_awaited = false;   // somebody is to be told of its end
  std::uint32_t number = 0;  // of the task on its rank
  std::size_t bytes = 0;
  kept_slots output;
};

// The work of one worker of this rank in an iteration.
struct rank_part {
  unsigned worker = 0;
  std::vector<rank_step> steps;
  std::vector<rank_wait> waits;
  std::vector<rank_task> awaited;  // by wait, whose task that is
  // By step; once for each phase of the kept outputs: input i of phase p lies at p * inputs + i.
  std::vector<std::span<const std::byte>> inputs;
  std::size_t inputs_of_phase = 0;
  std::vector<std::uint32_t> befores;  // of the inputs of a phase: how many iterations before they were made
};

class replay_ranks {
 public:
  // All ranks make one, in the same order.
  explicit replay_ranks(communicator& like);
  ~replay_ranks();
  replay_ranks(const replay_ranks&) = delete;
  replay_ranks& operator=(const replay_ranks&) = delete;

  // For its messages: the phases of planning, and the ends of replays, are the epochs.
  [[nodiscard]] communicator& messages() noexcept { return messages_; }
  [[nodiscard]] const communicator& messages() const noexcept { return messages_; }
  [[nodiscard]] scheduler& workers() const noexcept { return private_access::internals(runtime_); }

  // The name of a task in errors; as long as this lives.
  void name_tasks(std::function<std::string(const rank_task&)> name) { name_of_ = std::move(name); }

  // All ranks call it, once. The first list is worker 0's. Throws what communicator::run() throws; misuse on
  // a rank where a task reads what its worker makes later, and on all if tasks wait for each other.
  void plan(rank_lists lists);

  // The function that the worker of a part calls.
  using part_runner = replay_core::part_runner;
  // So many iterations on all ranks. Throws what a part failed with, or rank_failed.
  void replay(std::uint64_t times, part_runner runner);

  // Of iterations that have ended.
  [[nodiscard]] std::uint64_t iterations() const noexcept { return iterations_; }
  [[nodiscard]] const std::vector<rank_part>& parts() const noexcept { return parts_; }
  [[nodiscard]] std::uint64_t phase_mask() const noexcept { return phase_mask_; }
  // The iterations from this one on have all of their inputs.
  [[nodiscard]] std::uint64_t first_whole() const noexcept { return most_before_; }

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
  struct peer;
  struct step_signals;
  struct planned;
  struct long_wait;

  void exchange_readers(planned& all);
  void refuse_cycles(planned& all);
  void lay_out(planned& all);
  void exchange_tables(planned& all);
  void exchange_needs(planned& all);
  void compile(planned& all);
  [[nodiscard]] bool meet(planned& all, int rank);
  void tell_far(const planned& all, int rank);
  [[nodiscard]] rank_part waits_of(const planned& all, std::uint32_t worker) const;
  void list_inputs(const planned& all, rank_part& part) const;

  [[nodiscard]] static shared_bell& bell_of(const std::byte* memory, std::size_t worker) noexcept;
  [[nodiscard]] static const class asymmetric_fence& own_fence() noexcept;
  void fence_everywhere() const noexcept;
  void ring_own() noexcept;
  bool take_packets() noexcept;
  void take(int from, const packet& bytes) noexcept;
  void take_times(peer& of, const packet& bytes) noexcept;
  void send(int to, std::uint32_t entry, std::uint64_t iteration, std::span<const std::byte> output);
  void spread_failure() noexcept;
  void restart();
  void expect_same_times();
  void expect_same_times(int rank, std::uint64_t times) const;
  [[nodiscard]] std::string named(const rank_task& task) const;
  [[nodiscard]] std::string waits_in_words() const;
  void leave() noexcept;
  void sleep_until_told(const rank_wait& wait, std::uint64_t iteration, std::size_t part) noexcept;

  runtime& runtime_;
  transport& transport_;
  communicator messages_;
  message<int, std::uint64_t> tell_times_;
  std::function<std::string(const rank_task&)> name_of_;
  std::unique_ptr<channel> channel_;  // of packets to ranks that share no memory with this one
  std::unique_ptr<planned> planning_;

  std::optional<replay_core> core_;  // how the parts begin and end
  std::vector<rank_part> parts_;
  std::vector<step_signals> signals_;  // by number of the task
  std::uint64_t phase_mask_ = 0;
  std::uint64_t most_before_ = 0;
  std::shared_ptr<std::byte> memory_;  // the outputs of this rank
  std::size_t bells_ = 0;              // one for each worker, in it; as memory_, before other ranks are told
  std::atomic<std::uint32_t>* failed_ = nullptr;  // in it: 1, a part of this rank or another one has failed
  std::vector<std::unique_ptr<peer>> peers_;
  std::vector<peer*> peer_of_;  // by rank, or null
  bool has_far_ = false;
  bool polls_ = false;
  // Whether this rank and all near ones have a fence that a sleeper can have the others execute.
  bool fences_are_light_ = false;

  std::unique_ptr<long_wait[]> long_waits_;  // by part, for the watchdog

  std::uint64_t replays_ = 0;  // the number of the replay that goes on, or was the last
  std::uint64_t times_ = 0;    // its iterations
  std::uint64_t iterations_ = 0;
  bool broken_ = false;  // the replay before has failed
  bool leaves_ = false;  // is being destroyed: takes part in replays of others, and runs none
  // Of replays since a failure: packets of others are dropped.
  std::uint32_t generation_ = 0;
  std::atomic<bool> failure_spread_{false};
  std::mutex receiving_;  // of packets
};

}  // namespace teff::detail
