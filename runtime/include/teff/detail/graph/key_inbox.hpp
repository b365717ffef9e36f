// Keys on their way to a worker for which there is no room in a ring, or no ring.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <vector>

namespace teff::detail {

// They come from outside the workers, or when a ring is full.
template <class Key>
class key_inbox {
 public:
  // Throws std::bad_alloc.
  void push(const Key& key) {
    const std::lock_guard lock(mutex_);
    if (!keys_) keys_.emplace();
    keys_->push_back(key);
    // The lock orders the keys. seq_cst: before the look whether somebody sleeps, which a thread from outside
    // takes without any fence; against a sleeper's last look.
    count_.store(keys_->size(), std::memory_order_seq_cst);
  }
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_seq_cst) == 0; }
  // About so many.
  [[nodiscard]] std::size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }
  // Up to `most` of the oldest.
  [[nodiscard]] std::vector<Key> take(std::size_t most) {
    const std::lock_guard lock(mutex_);
    if (!keys_) return {};
    const auto end = keys_->begin() + static_cast<std::ptrdiff_t>(std::min(most, keys_->size()));
    std::vector<Key> taken(std::make_move_iterator(keys_->begin()), std::make_move_iterator(end));
    keys_->erase(keys_->begin(), end);
    count_.store(keys_->size(), std::memory_order_release);
    return taken;
  }

 private:
  std::mutex mutex_;
  std::optional<std::deque<Key>> keys_;  // made when it is needed: it allocates at once
  std::atomic<std::size_t> count_{0};
};

}  // namespace teff::detail
