// A flow's tasks, from their making until they have ended (src/flow/README.md).
#pragma once

#include <teff/detail/flow/flow_access.hpp>
#include <teff/detail/flow/flow_task.hpp>
#include <teff/detail/loops/pace.hpp>
#include <teff/detail/ready/ready_queues.hpp>
#include <teff/detail/task_source/recycled_memory.hpp>
#include <teff/detail/task_source/task_source.hpp>

#include "flow/flow_checker.hpp"
#include "flow/flow_domain.hpp"
#include "flow/flow_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace teff::detail {

class flow_watch;
struct flow_record;
struct flow_repetition;
struct repeated_task;

// How many tasks a thread has made, and how many bodies it has run. Only that thread writes the counts.
struct flow_counts {
  std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> ran{0};

  static std::uint64_t raise(std::atomic<std::uint64_t>& count) noexcept {
    const auto now = count.load(std::memory_order_relaxed) + 1;
    count.store(now, std::memory_order_relaxed);
    return now;
  }
};

// The run of a task's body while its flow is recorded.
struct flow_run {
  std::uint32_t task;   // as flow_task::recorded
  std::uint64_t begun;  // how many bodies of the flow have begun before
};

struct alignas(128) flow_worker : source_worker {
  flow_worker(unsigned worker, bool is_alone, flow_exchange& blocks)
      : source_worker(worker, is_alone), pool(blocks) {}

  flow_pool pool;
  flow_counts counts;
  bool crowded = false;                  // tasks made within tasks run at once
  unsigned nested = 0;                   // so many do just now
  std::vector<flow_run>* log = nullptr;  // of a recording: the bodies that run here
};

class flow_core final : public task_source<flow_core, flow_worker> {
  using base = task_source<flow_core, flow_worker>;

 public:
  flow_core(scheduler& runtime, unsigned workers);
  ~flow_core() override;

  // The calling thread as a creator of tasks. `call`: the public function, in words. Throws misuse in a part
  // of a body that another thread than the body's runs, and in a function that the end of a task calls. This
  // and the next functions are hidden: else the shared library could not have them inline.
  [[nodiscard, gnu::visibility("hidden")]] flow_creator creator(const char* call);
  // The calling thread, which is in no task of the flow.
  [[nodiscard, gnu::visibility("hidden")]] flow_creator creator_outside() noexcept;

  // Throws misuse or not_replayable unless a task of such a body may be made; `in_chunk`: by a worksharing
  // task.
  void expect_to_make(bool in_chunk, const flow_body& body, std::span<const access> accesses) const;
  // Memory for a task with so many members, and a closure, which the caller makes. Throws std::bad_alloc.
  [[nodiscard, gnu::visibility("hidden")]] flow_task& allocate(const flow_creator& by, std::size_t members,
                                                               std::size_t bytes, std::size_t alignment);
  // Of a task whose closure could not be made.
  void drop(const flow_creator& by, flow_task& task);
  // The flow's own tasks, if they may come again and again; else null.
  [[nodiscard]] flow_repetition* repetition() noexcept {
    return recorded == nullptr ? repetition_.get() : nullptr;
  }
  // The task that is made next, if it is the next one of a memo; else null.
  [[nodiscard]] flow_task* next_of_memo(const flow_creator& by, const flow_body& body,
                                        std::span<const access> accesses);
  void note_made(const flow_creator& by, flow_task& task, std::span<const access> accesses,
                 std::size_t bytes);
  // At rest: a memo would not be true any more.
  void forget_repetition() noexcept;
  // Puts the task after the earlier tasks that it depends on. The task may run before this returns. Throws
  // misuse if an access overlaps a reduction of the task, not_replayable in a replayed body, std::bad_alloc.
  void submit(const flow_creator& by, flow_task& task, std::span<const access> accesses);

  // An owner of the task's memory lets go of it. The last one gives the memory to its pool.
  static void drop_reference(flow_task& task, flow_pool& pool) noexcept;
  // Makes a task that will not run, with many references, after the tasks in a domain that touch the same
  // memory. Throws std::bad_alloc.
  [[nodiscard]] flow_task& make_unrun(const flow_creator& by, flow_domain& domain,
                                      std::span<const access> accesses);

  [[nodiscard]] held_end<>* hold_end() override;
  // A task of the flow, or a part of one, is running on the calling thread.
  [[nodiscard]] bool is_within() const noexcept {
    return self.frame->is_of(*this) || replayed == this || (checker != nullptr && checker->is_within());
  }
  // Within a task: throws misuse unless its inner tasks wait for each other only, so that the wait ends.
  void expect_inner_end(const char* call);
  // Within a task: returns when the tasks made in it have ended. Throws as expect_inner_end(), and the first
  // exception of a body.
  void wait_for_inner(const char* call);
  // The functions of the base. A watchdog observes them.
  void wait();
  void abandon_if_unfinished() noexcept;
  // Returns when a task with these accesses could begin. Throws as expect_inner_end(), and
  // graph_waits_for_itself, not_replayable, runtime_was_shut_down.
  void wait_for(std::span<const access> accesses);
  void wake_helpers() noexcept {
    if (wait_for_tasks_.any()) wait_for_tasks_.wake();
  }
  [[nodiscard]] flow_worker& state(unsigned worker) noexcept { return *states_[worker]; }

  // Runs the task now, in order. The flow fails if the task breaks its accesses.
  void run_checked(const flow_creator& by, flow_task& task, std::span<const access> accesses);
  std::unique_ptr<flow_checker> checker;  // null: the flow is not checked
  // On one of the workers that replay a worksharing task: runs chunks of it, until none is left or
  // failed(). Throws what the chunk throws.
  static void replay_loop(unsigned worker, flow_task& task, condition failed);
  // The list of the recording in progress, of the flow's own tasks in the order of their making; or null.
  std::vector<flow_record>* recorded = nullptr;
  // The flow of which the calling thread replays a part, or null.
  static thread_local const flow_core* replayed;

 private:
  friend base;
  struct releasing;
  struct addition;

  // ---- For task_source ----

  [[nodiscard]] bool has_priorities() const noexcept {
    return has_priorities_.load(std::memory_order_relaxed);
  }
  void run_body(flow_worker& caller, runnable& task);
  // If the flow is recorded, notes that the body begins. Relaxed: a task that waits for another begins after
  // that one in the order of this one atomic, too.
  void note_run(flow_worker& caller, flow_task& task) {
    if (caller.log != nullptr) [[unlikely]]
      caller.log->push_back({task.recorded, begun_while_recorded_.fetch_add(1, std::memory_order_relaxed)});
  }
  void end(flow_worker& caller, runnable& task) noexcept;
  void end_now(flow_worker& caller, flow_task& task) noexcept;
  void go_on(flow_worker& caller, flow_task& task) noexcept;
  void end_parts(flow_task& task, releasing& all) noexcept;
  std::exception_ptr forget_waiting(bool /*named*/) override { return nullptr; }  // at rest none is left
  [[nodiscard]] std::string running_task_on(
      unsigned worker) const override;  // its name, and the modes of its accesses
  void look_for_rest(unsigned worker) noexcept;

  // ---- Worksharing tasks ----

  void run_loop(flow_worker& caller, flow_task& task);
  void accept(flow_worker& caller, runnable& offer) noexcept;
  [[nodiscard]] std::uint64_t run_chunks(flow_worker& caller, flow_loop& loop) noexcept;
  void offer_share(flow_worker& caller, flow_loop& loop, const loop_pace<>& pace) noexcept;
  [[nodiscard]] bool offer(flow_worker& caller, flow_loop& loop) noexcept;

  // ---- Making ----

  [[noreturn, gnu::cold]] static void refuse_beside_body(const char* call);
  [[noreturn, gnu::cold]] static void refuse_in_chunk(const char* call);
  [[nodiscard]] flow_domain& domain_of(const flow_creator& by);
  void submit_of_memo(const flow_creator& by, flow_task& task);
  [[nodiscard]] bool may_repeat() const noexcept {
    return watch_ == nullptr && checker == nullptr && recorded == nullptr;
  }
  void was_made(const flow_creator& by, flow_task& task, bool is_ready);
  void leave_memo(const flow_creator& by);
  // In the table, for a task of a memo that was made before.
  void stand_in(const flow_creator& by, repeated_task& task, std::vector<access> accesses);
  void end_stand_in(const flow_creator& by, flow_task& task) noexcept;
  static void close(flow_range& range, const flow_creator& by) noexcept;
  static void forget(flow_member*& group, const flow_creator& by) noexcept;
  void close_domain(flow_task& parent, const flow_creator& by);
  static void forget(flow_range& range, const flow_creator& by) noexcept;
  void make_room(const flow_creator& by);
  template <class Begin>
  void wait_within_call(Begin begin, condition done);

  // ---- Running ----

  void can_begin(const flow_creator& by, flow_task& task) noexcept;
  void make_task_ready(const flow_creator& by, flow_task& task);
  void count_ran(flow_worker& caller, flow_task& task) noexcept;
  [[nodiscard]] std::uint64_t outstanding() const noexcept;
  [[nodiscard]] bool has_room() const noexcept { return outstanding() <= most_outstanding / 2; }

  // With more tasks than this waiting or running, the creator runs some before it makes another.
  static constexpr std::uint64_t most_outstanding = 4096;
  static constexpr std::uint64_t made_between_looks = 64;
  static constexpr std::uint64_t made_before_history = 128;  // a short flow has no use for it
  // Each task that runs where it is made lies on the stack of the task that makes it: so many do at most.
  static constexpr unsigned most_nested = 64;

  flow_exchange blocks_;
  unmoved_array<flow_worker> states_;
  flow_domain domain_;
  flow_pool outside_pool_;
  flow_counts outside_counts_;
  std::unique_ptr<flow_repetition> repetition_;
  const std::unique_ptr<flow_watch> watch_;  // null: TEFF_WATCHDOG asks for no reports
  std::atomic<bool> has_priorities_{false};
  std::atomic<std::uint64_t> begun_while_recorded_{0};
  waiters wait_for_tasks_;
  std::atomic<unsigned> want_room_{0};  // threads that wait until fewer tasks are outstanding
};

}  // namespace teff::detail
