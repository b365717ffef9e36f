// How many predecessors each of some numbered tasks still waits for.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace teff::detail {

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
  missing_predecessors(const missing_predecessors&) = delete;
  missing_predecessors& operator=(const missing_predecessors&) = delete;

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

}  // namespace teff::detail
