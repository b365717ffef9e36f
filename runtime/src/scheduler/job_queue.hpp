// First-in-first-out queues of work that lies in no deque: jobs, and gangs. Such work is rare enough for
// locks.
#pragma once

#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace teff::detail {

// The lock guards the list, the jobs' links and all writing of the count. To push, to take or to withdraw a
// job takes one exchange of the lock; a push takes one more, since a sleeper must not miss the job.
class job_queue {
 public:
  job_queue() noexcept { ends_.next = ends_.previous = &ends_; }

  // Returns whether the queue was empty.
  bool push(job& added) noexcept {
    const std::lock_guard lock(lock_);
    added.next = &ends_;
    added.previous = std::exchange(ends_.previous, &added);
    added.previous->next = &added;
    // seq_cst: before the submitter's look at the idle counters, against the sleeper's last look at empty().
    size_.store(size() + 1, std::memory_order_seq_cst);
    return ends_.next == &added;
  }

  // The oldest job, or null.
  [[nodiscard]] job* pop() noexcept {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(lock_);
    return ends_.next == &ends_ ? nullptr : take(*ends_.next);
  }
  // Takes the oldest job out. Returns the one that is the oldest from then on, or null.
  [[nodiscard]] job* pop_and_see_next() noexcept {
    const std::lock_guard lock(lock_);
    take(*ends_.next);
    return ends_.next == &ends_ ? nullptr : ends_.next;
  }
  // The oldest job, which others may take meanwhile, or null.
  [[nodiscard]] const job* oldest() noexcept {
    const std::lock_guard lock(lock_);
    return ends_.next == &ends_ ? nullptr : ends_.next;
  }
  // Takes out this job, which has been pushed. False: it has been taken out before.
  [[nodiscard]] bool withdraw(job& wanted) noexcept {
    const std::lock_guard lock(lock_);
    return wanted.previous != nullptr && take(wanted) != nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }
  // A hint.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  // With the lock.
  job* take(job& there) noexcept {
    there.next->previous = there.previous;
    std::exchange(there.previous, nullptr)->next = there.next;
    // Relaxed: a thread that reads the old count looks in vain.
    size_.store(size() - 1, std::memory_order_relaxed);
    return &there;
  }

  spin_lock lock_;
  job ends_{nullptr};  // before the oldest and after the newest
  std::atomic<std::uint32_t> size_{0};
};

}  // namespace teff::detail
