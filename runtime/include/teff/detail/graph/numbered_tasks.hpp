// A parallel_graph in progress: how workers run its tasks (src/graph/README.md, "Graphs that are known
// beforehand").
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/loops/pace.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/error.hpp>
#include <teff/scope.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::detail {

// How many predecessors each of some numbered tasks still waits for.
//
// `Atomic` is std::atomic, or the checker's stand-in.
template <std::integral Task, template <class> class Atomic = std::atomic>
class missing_predecessors {
 public:
  // Of the tasks from 0 to count - 1. Throws std::bad_alloc.
  explicit missing_predecessors(Task count)
      : count_(count),
        many_(std::cmp_less_equal(count, few_.size())
                  ? nullptr
                  : new Atomic<std::uint32_t>[static_cast<std::size_t>(count)]),
        missing_(many_ ? many_.get() : few_.data()) {}

  // Before any task runs. Returns whether the task is ready at once. Throws negative_indegree.
  bool begin(Task task, int indegree) {
    if (indegree < 0) [[unlikely]]
      refuse_indegree(task, indegree);
    missing_[index(task)].store(static_cast<std::uint32_t>(indegree), std::memory_order_relaxed);
    return indegree == 0;
  }
  [[nodiscard]] Task count() const noexcept { return count_; }
  // A number that no task has.
  [[nodiscard]] Task none() const noexcept { return count_; }
  [[nodiscard]] bool waits(Task task) const noexcept {
    return missing_[index(task)].load(std::memory_order_relaxed) != 0;
  }

  // From now on several threads release tasks. Called by the one that has done so alone, before the others
  // can.
  void share() noexcept {
    if (!shared_) shared_ = true;
  }

  // Releases tasks, until share() is called. Each thread has one: fields that do not change meanwhile lie in
  // registers, though bodies write to memory.
  class releaser {
   public:
    [[nodiscard]] Task none() const noexcept { return count_; }

    // A predecessor of the task has ended. Returns whether it was the last one: the task is ready. Throws
    // misuse if there is no such task, over_fulfilled if it was ready before.
    [[nodiscard, gnu::always_inline]] bool operator()(Task task) const {
      using number = std::make_unsigned_t<Task>;  // one that is negative is larger than any other
      if (static_cast<number>(task) >= static_cast<number>(count_)) [[unlikely]]
        refuse_number(task, count_);
      auto& missing = missing_[index(task)];
      // Acquire: all that the predecessors did that were counted so far; their changes since share() are one
      // release sequence, and what was before that happened before anything since.
      const auto seen = missing.load(std::memory_order_acquire);
      // Where one is missing, or the thread is alone, nobody else counts: no exchange is needed.
      if (seen <= 1 || !shared_) {
        if (seen == 0) [[unlikely]]
          refuse_release(task);
        missing.store(seen - 1, std::memory_order_relaxed);
        return seen == 1;
      }
      // Release: all that the predecessor did, to the thread that finds the task ready. Acquire: as above. It
      // is left at 0 if that is the caller.
      return missing.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

   private:
    friend missing_predecessors;
    explicit releaser(const missing_predecessors& of) noexcept
        : count_(of.count_), shared_(of.shared_), missing_(of.missing_) {}

    Task count_;
    bool shared_;
    Atomic<std::uint32_t>* missing_;
  };
  [[nodiscard]] releaser releases() const noexcept { return releaser(*this); }

  // When no task runs any more, and some have not run. Throws never_satisfied.
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_the_end() const {
    std::size_t left = 0;
    std::string names;
    for (Task task = 0; task < count_; ++task) {
      if (!waits(task)) continue;
      if (++left <= most_named) names += (left == 1 ? "" : ", ") + std::to_string(task);
    }
    throw_error(never_satisfied(
        "teff::parallel_graph: " + std::to_string(left) + (left == 1 ? " task was" : " tasks were") +
            " released less often than the indegree says: " + names + (left > most_named ? ", ..." : ""),
        left));
  }

 private:
  static constexpr std::size_t most_named = 8;

  static std::size_t index(Task task) noexcept { return static_cast<std::size_t>(task); }

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_indegree(Task task, int indegree) {
    throw_error(negative_indegree("teff::parallel_graph: the indegree of the task " + std::to_string(task) +
                                  " is " + std::to_string(indegree)));
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_number(Task task, Task count) {
    throw_error(misuse("teff::parallel_graph: the task " + std::to_string(task) +
                       " was released, and there are " + std::to_string(count)));
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_release(Task task) {
    throw_error(over_fulfilled("teff::parallel_graph: the task " + std::to_string(task) +
                               " was released more often than its indegree says"));
  }

  const Task count_;
  bool shared_ = false;
  std::array<Atomic<std::uint32_t>, 16> few_;  // of a small graph, which allocates none
  const std::unique_ptr<Atomic<std::uint32_t>[]> many_;
  Atomic<std::uint32_t>* const missing_;
};

// Each worker that takes part runs a batch: tasks that are ready, the newest first, and all that they make
// ready. A batch gives work away as a task of the scope.
//
// `Release`: the argument of a body, made of the counters and the batch. It keeps the newest task that the
// body has made ready out of the batch, in registers as a rule: that one runs next.
template <std::integral Task, class Release, class Body>
class numbered_tasks {
  using batch = std::vector<Task>;

 public:
  numbered_tasks(missing_predecessors<Task>& missing, Body& body)
      : missing_(missing), body_(body), pace_(pace_of<Body>(static_cast<std::uint64_t>(missing.count()))) {}

  // Returns when no task is left that can run, how many have; throws the first exception of one.
  std::size_t run(batch roots) {
    run_batch(missing_.none(), std::move(roots));
    all_.wait();
    return ran_.load(std::memory_order_relaxed);  // each batch ended before the scope did
  }

 private:
  // `task`, or none, is the newest of the batch.
  void run_batch(Task task, batch ready) {
    undo_if_thrown([&] { run_tasks(task, ready); }, [this] { all_.cancel(); });
  }

  void run_tasks(Task task, batch& ready) {
    const auto* const base = self.head();
    loop_pace<> pace(pace_);
    std::int64_t ran = 0;
    if (task == missing_.none()) task = taken_from(ready);
    give_if_wanted(ready, pace, base);
    auto block = pace.block();
    while (task != missing_.none()) {
      traced_body<Body&> traced{body_};
      const auto after = ring_here() == nullptr ? run_block(body_, task, block, ready)
                                                : run_block(traced, task, block, ready);
      ran += block - after.left;
      if (all_.cancelled()) [[unlikely]]
        return;
      task = after.next;
      if (after.left != 0) break;
      pace.look(block);
      give_if_wanted(ready, pace, base);
      block = pace.block();
    }
    pace.tell_at_end(pace_, block);
    ran_.fetch_add(static_cast<std::size_t>(ran), std::memory_order_relaxed);
  }

  struct block_end {
    Task next;          // none: nothing is ready
    std::int64_t left;  // that have not run
  };
  // Runs the task and what is ready after it, `left` tasks at most. Not inline: then what this loop needs is
  // in registers; on the stack, its counters would be stored and loaded at each task.
  template <class Called>
  [[gnu::noinline]] block_end run_block(Called& called, Task task, std::int64_t left, batch& ready) {
    const auto releases = missing_.releases();
    do {
      const Release release(releases, ready);
      std::invoke(called, task, release);
      task = release.newest();
      --left;
      if (all_.cancelled()) [[unlikely]]
        break;
      if (task == releases.none()) task = taken_from(ready);
    } while (left != 0 && task != releases.none());
    return {task, left};
  }

  Task taken_from(batch& ready) const noexcept {
    if (ready.empty()) return missing_.none();
    const Task newest = ready.back();
    ready.pop_back();
    return newest;
  }

  // Beside `ready` the worker has a task in its hands. Long tasks are given away before anybody asks: a
  // worker that comes while one runs would have to wait for its end. `base`: where the worker's deque ended
  // when the batch began.
  void give_if_wanted(batch& ready, const loop_pace<>& pace, const task_slot* base) {
    constexpr std::ptrdiff_t most_on_offer = 64;
    if (base == nullptr) return;  // nobody steals from this thread
    if (pace.is_long()) {
      const auto room = most_on_offer - (self.head() - base);
      if (!ready.empty() && room > 0) give_singly(ready, static_cast<std::size_t>(room));
    }
    if (!self.asked() || !self.asked_to_share()) return;
    // Few tasks may be ready, but many may follow from them: no more than there are tasks in the graph.
    const auto all = static_cast<std::uint64_t>(missing_.count());
    if (!ready.empty() && pace.pays(all) && (pace.pays_a_wake(ready.size() + 1) || shares_without_wake())) {
      give_half(ready);
    } else {
      calling_worker::answer_request();
    }
  }

  [[gnu::noinline]] void give_singly(batch& ready, std::size_t most) {
    const auto given = std::min(most, ready.size());
    missing_.share();
    for (std::size_t i = 0; i < given; ++i) {
      all_.spawn(as_part_of<Body>([this, task = ready[i]] { run_batch(task, {}); }));
    }
    ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(given));
  }

  // The oldest, from which most is likely to follow.
  [[gnu::cold, gnu::noinline]] void give_half(batch& ready) {
    const auto middle = ready.begin() + static_cast<std::ptrdiff_t>((ready.size() + 1) / 2);
    missing_.share();
    batch given(ready.begin(), middle);
    ready.erase(ready.begin(), middle);
    all_.spawn(as_part_of<Body>(
        [this, some = std::move(given)]() mutable { run_batch(missing_.none(), std::move(some)); }));
  }

  missing_predecessors<Task>& missing_;
  Body& body_;
  remembered_pace& pace_;
  std::atomic<std::size_t> ran_{0};  // relaxed: read when all batches have ended
  scope all_;
};

}  // namespace teff::detail
