// A first-in-first-out queue of jobs: for what comes from outside the workers, so rarely enough for a lock.
//
// The lock guards the list and all writing of the counts. Who pushes, takes or withdraws does so by one
// exchange of the lock; pushing takes another, since a sleeper must not miss it.
#pragma once

#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

namespace teff::detail {

class job_queue {
 public:
  void push(job& added) noexcept {
    const std::lock_guard lock(lock_);
    added.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &added;
    last_ = &added;
    // seq_cst: before the submitter's look at the idle counters, against the sleeper's last look at empty().
    counts_.store(counts_.load(std::memory_order_relaxed) + one_there, std::memory_order_seq_cst);
  }

  // The oldest job, or null.
  [[nodiscard]] job* pop() noexcept {
    if (there(counts_.load(std::memory_order_relaxed)) == 0) return nullptr;
    const std::lock_guard lock(lock_);
    return first_ == nullptr ? nullptr : pop_first();
  }
  [[nodiscard]] bool is_oldest(const job& asked) noexcept {
    const std::lock_guard lock(lock_);
    return first_ == &asked;
  }
  // Takes this job out if it is the oldest. Returns whether it was.
  [[nodiscard]] bool pop_if_oldest(const job& wanted) noexcept {
    const std::lock_guard lock(lock_);
    return first_ == &wanted && pop_first() != nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return there(counts_.load(std::memory_order_seq_cst)) == 0; }

  // A hint.
  [[nodiscard]] std::uint32_t size() const noexcept { return there(counts_.load(std::memory_order_relaxed)); }

  // How many have been taken out, if there is a job. Two equal answers: the oldest has been there all along.
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
  job* pop_first() noexcept {
    job* const oldest = first_;
    first_ = oldest->next;
    if (first_ == nullptr) last_ = nullptr;
    // Relaxed: who still sees it looks in vain.
    counts_.store(counts_.load(std::memory_order_relaxed) + one_taken - one_there, std::memory_order_relaxed);
    return oldest;
  }

  spin_lock lock_;
  job* first_ = nullptr;
  job* last_ = nullptr;
  std::atomic<std::uint64_t> counts_{0};
};

}  // namespace teff::detail
