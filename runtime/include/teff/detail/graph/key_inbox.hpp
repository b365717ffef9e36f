// Keys on their way to a worker for which there is no room in a ring, or no ring. They come from outside the
// workers, or when a ring is full.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace teff::detail {

// A queue of messages of one size: each is a key, or the address of one.
class key_inbox {
 public:
  explicit key_inbox(std::size_t message_bytes) noexcept : bytes_(message_bytes) {}

  // Calls begin() when nothing can throw any more, and nobody sees the message yet. Throws std::bad_alloc.
  template <class Begin>
  void push(const void* message, Begin begin) {
    const std::lock_guard lock(mutex_);
    // Messages that were taken make room as soon as they are more than those that are kept.
    if (first_ > messages_.size() / 2) {
      messages_.erase(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    const auto* const bytes = static_cast<const std::byte*>(message);
    messages_.insert(messages_.end(), bytes, bytes + bytes_);
    begin();
    // The lock orders the keys. seq_cst: before the look whether somebody sleeps, which a thread from outside
    // takes without any fence; against a sleeper's last look.
    count_change();
    count_.store(size() + 1, std::memory_order_seq_cst);
  }
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_seq_cst) == 0; }
  // How often messages were put in or taken out: a hint.
  [[nodiscard]] std::uint32_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }
  // About so many.
  [[nodiscard]] std::size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }
  // Moves up to `most` of the oldest messages. They are few and lie on the stack: a worker that counts keys
  // can't tell any caller that there is no memory.
  static constexpr std::size_t most = 16;
  static constexpr std::size_t most_bytes = 56;
  struct taken_messages {
    alignas(16) std::byte bytes[most * most_bytes];
    std::size_t count = 0;
  };
  void take(taken_messages& to) noexcept {
    const std::lock_guard lock(mutex_);
    take(to, most);
  }
  // The oldest alone. Returns how many there were that equal(a, b) says are the same, and none if there is no
  // message. The others of these are given to drop().
  template <class Equal, class Drop>
  [[nodiscard]] std::size_t take_oldest(taken_messages& to, Equal equal, Drop drop) noexcept {
    const std::lock_guard lock(mutex_);
    take(to, 1);
    const auto before = size() + to.count;
    std::byte* kept = messages_.data() + first_;
    for (std::byte *each = kept, *const end = messages_.data() + messages_.size(); each != end;
         each += bytes_) {
      if (equal(to.bytes, each)) {
        drop(each);
        count_.store(size() - 1, std::memory_order_relaxed);
      } else {
        if (kept != each) std::memcpy(kept, each, bytes_);
        kept += bytes_;
      }
    }
    messages_.resize(static_cast<std::size_t>(kept - messages_.data()));
    return before - size();
  }

 private:
  // With the lock, as the next.
  void take(taken_messages& to, std::size_t at_most) noexcept {
    to.count = std::min(at_most, size());
    if (to.count == 0) return;
    std::memcpy(to.bytes, messages_.data() + first_, to.count * bytes_);
    first_ += to.count * bytes_;
    if (to.count == size()) {
      messages_.clear();
      first_ = 0;
    }
    count_change();
    count_.store(size() - to.count, std::memory_order_relaxed);
  }
  void count_change() noexcept {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  const std::size_t bytes_;  // of a message; most_bytes at most
  std::mutex mutex_;
  std::vector<std::byte> messages_;
  std::size_t first_ = 0;  // the oldest; the bytes before were taken
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint32_t> changes_{0};
};

}  // namespace teff::detail
