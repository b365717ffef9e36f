// A first-in-first-out queue of jobs: for what comes from outside the workers, so rarely enough for a lock.
//
// The lock guards the list, the jobs' links and all writing of the counts. Who pushes, takes or withdraws
// does so by one exchange of the lock; pushing takes another, since a sleeper must not miss it.
#pragma once

#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace teff::detail {

class job_queue {
 public:
  job_queue() noexcept { ends_.next = ends_.previous = &ends_; }
  job_queue(const job_queue&) = delete;
  job_queue& operator=(const job_queue&) = delete;

  void push(job& added) noexcept {
    const std::lock_guard lock(lock_);
    added.next = &ends_;
    added.previous = std::exchange(ends_.previous, &added);
    added.previous->next = &added;
    oldest_.store(ends_.next, std::memory_order_relaxed);
    // seq_cst: before the submitter's look at the idle counters, against the sleeper's last look at empty().
    counts_.store(counts_.load(std::memory_order_relaxed) + one_there, std::memory_order_seq_cst);
  }

  // The oldest job, or null.
  [[nodiscard]] job* pop() noexcept {
    if (there(counts_.load(std::memory_order_relaxed)) == 0) return nullptr;
    const std::lock_guard lock(lock_);
    return ends_.next == &ends_ ? nullptr : take(*ends_.next);
  }
  // The second oldest job; but the oldest if there is no other, or if it has been left so before.
  [[nodiscard]] job* pop_leaving_oldest() noexcept {
    if (there(counts_.load(std::memory_order_relaxed)) == 0) return nullptr;
    const std::lock_guard lock(lock_);
    job* const oldest = ends_.next;
    if (oldest == &ends_) return nullptr;
    if (oldest == left_ || oldest->next == &ends_) return take(*oldest);
    left_ = oldest;
    return take(*oldest->next);
  }
  // The oldest job if it has been left so; else null.
  [[nodiscard]] const job* left_oldest() noexcept {
    const std::lock_guard lock(lock_);
    return ends_.next == left_ ? left_ : nullptr;
  }
  // A hint: others may take it meanwhile.
  [[nodiscard]] bool is_oldest(const job& asked) const noexcept {
    return oldest_.load(std::memory_order_relaxed) == &asked;
  }
  // Takes out this job, which has been pushed. False: it has been taken out before.
  [[nodiscard]] bool withdraw(job& wanted) noexcept {
    const std::lock_guard lock(lock_);
    return wanted.previous != nullptr && take(wanted) != nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return there(counts_.load(std::memory_order_seq_cst)) == 0; }

  // A hint.
  [[nodiscard]] std::uint32_t size() const noexcept { return there(counts_.load(std::memory_order_relaxed)); }

  // How many have been taken out.
  [[nodiscard]] std::uint32_t taken() const noexcept {
    return static_cast<std::uint32_t>(counts_.load(std::memory_order_relaxed) >> 32);
  }
  // The same, if there is a job. Two equal answers: the oldest has been there all along.
  [[nodiscard]] std::optional<std::uint32_t> taken_before_oldest() const noexcept {
    const auto now = counts_.load(std::memory_order_relaxed);
    if (there(now) == 0) return std::nullopt;
    return static_cast<std::uint32_t>(now >> 32);
  }

 private:
  // How many are there (low half), and how many were taken out (high half).
  static constexpr std::uint64_t one_there = 1;
  static constexpr std::uint64_t one_taken = std::uint64_t{1} << 32;
  static constexpr std::uint32_t there(std::uint64_t counts) noexcept {
    return static_cast<std::uint32_t>(counts);
  }

  // With the lock.
  job* take(job& there) noexcept {
    if (left_ == &there) left_ = nullptr;
    there.next->previous = there.previous;
    std::exchange(there.previous, nullptr)->next = there.next;
    oldest_.store(ends_.next, std::memory_order_relaxed);  // or ends_, which nobody asks for
    // Relaxed: who still sees it looks in vain.
    counts_.store(counts_.load(std::memory_order_relaxed) + one_taken - one_there, std::memory_order_relaxed);
    return &there;
  }

  spin_lock lock_;
  job ends_{nullptr};  // before the oldest and after the newest
  const job* left_ = nullptr;
  std::atomic<const job*> oldest_{nullptr};
  std::atomic<std::uint64_t> counts_{0};
};

}  // namespace teff::detail
