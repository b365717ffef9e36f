// The sources of work that the workers of one runtime look at.
#pragma once

#include <teff/detail/scheduler/source.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace teff::detail {

using source_list = std::vector<std::shared_ptr<source>>;

// Each worker has a copy of the list, and makes a new one when the version has changed: so a worker looks at
// its sources without touching anything shared but the version, and a removed source lives until no worker
// has it in its list.
class sources {
 public:
  void add(std::shared_ptr<source> added) {
    const std::lock_guard lock(mutex_);
    list_.push_back(std::move(added));
    next_version();
  }
  void remove(const source& removed) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(list_, [&](const auto& each) { return each.get() == &removed; });
    next_version();
  }

  // Relaxed: who brings a source something wakes the worker by the gate, or is ordered before its last look
  // by a fence; both have it see the version of before.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  // The list, of the version that was read before or a later one.
  [[nodiscard]] source_list list() const {
    const std::lock_guard lock(mutex_);
    return list_;
  }

 private:
  void next_version() noexcept {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  mutable std::mutex mutex_;
  source_list list_;
  alignas(64) std::atomic<std::uint64_t> version_{0};
};

}  // namespace teff::detail
