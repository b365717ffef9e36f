// Keys on their way to a worker.
#pragma once

#include <teff/detail/exceptions.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff::detail {

// A queue between two workers: one writes, one reads, and a message costs the transfer of one cache line.
//
// Protocol and proof sketch: src/graph/messages.md. tests/graph_model_test.cpp checks this very code.
//
// The flag of a slot lies beside its message, so that one cache line brings both. It says in which lap round
// the ring the message was written, so the reader need not write to the slot.
//
// `Message` is trivially copyable; `Atomic` is std::atomic, or the checker's stand-in.
template <class Message, std::uint32_t capacity = 256, template <class> class Atomic = std::atomic>
class message_ring {
  static_assert(std::has_single_bit(capacity));
  static constexpr bool copies_quietly = std::is_nothrow_copy_assignable_v<Message>;

 public:
  message_ring() noexcept = default;
  message_ring(const message_ring&) = delete;
  message_ring& operator=(const message_ring&) = delete;

  // The writer. Whether send() would find room.
  [[nodiscard]] bool has_room() noexcept {
    // Acquire: pairs with the release in receive(): the message that lay here has been copied.
    if (written_ == limit_) limit_ = consumed_.load(std::memory_order_acquire) + capacity;
    return written_ != limit_;
  }
  // The writer. False: the ring is full.
  [[nodiscard]] bool send(const Message& message) noexcept(copies_quietly) {
    if (!has_room()) return false;
    auto& to = slots_[written_ % capacity];
    to.message = message;
    // Release: the message, and what its sender did before, to the acquire in receive().
    to.lap.store(lap_of(written_), std::memory_order_release);
    ++written_;
    return true;
  }

  // The reader. False: there is no message.
  [[nodiscard]] bool receive(Message& message) noexcept(copies_quietly) {
    auto& from = slots_[read_ % capacity];
    // Acquire: pairs with the release in send().
    if (from.lap.load(std::memory_order_acquire) != lap_of(read_)) return false;
    message = from.message;
    ++read_;
    // Now and then only: the writer reads this line, and only when it thinks that the ring is full. Release:
    // the copy above, to the acquire in send().
    if (read_ % (capacity / 2) == 0) consumed_.store(read_, std::memory_order_release);
    return true;
  }

  // The reader. Whether receive() would find a message.
  [[nodiscard]] bool has_message() const noexcept {
    return slots_[read_ % capacity].lap.load(std::memory_order_acquire) == lap_of(read_);
  }

 private:
  static constexpr std::uint32_t lap_of(std::uint32_t position) noexcept { return position / capacity + 1; }
  static constexpr std::size_t slot_size = std::bit_ceil(sizeof(Message) + sizeof(std::uint32_t));

  // Never across two lines.
  struct alignas(slot_size < 64 ? slot_size : 64) slot {
    Message message;
    Atomic<std::uint32_t> lap{0};
  };

  // The writer's own.
  alignas(64) std::uint32_t written_ = 0;
  std::uint32_t limit_ = capacity;
  // The reader's own, but for the writer's rare looks at `consumed_`.
  alignas(64) std::uint32_t read_ = 0;
  Atomic<std::uint32_t> consumed_{0};
  alignas(64) slot slots_[capacity];
};

// Keys on their way to a worker for which there is no room in a ring, or no ring. They come from outside the
// workers, or when a ring is full.
template <class Key>
class key_inbox {
 public:
  // Calls begin() when nothing can throw any more, and nobody sees the key yet. Throws std::bad_alloc, and
  // the exception of a copy of the key.
  template <class Begin>
  void push(const Key& key, Begin begin) {
    const std::lock_guard lock(mutex_);
    make_room();
    keys_.push_back(key);
    begin();
    // The lock orders the keys. seq_cst: before the look whether somebody sleeps, which a thread from outside
    // takes without any fence; against a sleeper's last look.
    count_change();
    count_.store(keys_.size() - first_, std::memory_order_seq_cst);
  }
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_seq_cst) == 0; }
  // How often keys were put in or taken out: a hint.
  [[nodiscard]] std::uint32_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }
  // About so many.
  [[nodiscard]] std::size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }
  // Moves up to `most` of the oldest keys. They are few and lie on the stack: a worker that counts keys can't
  // tell any caller that there is no memory. A key that throws when it is moved is taken, and null.
  static constexpr std::size_t most = 16;
  struct taken_keys {
    std::array<std::optional<Key>, most> keys;
    std::size_t count = 0;
    std::exception_ptr error;  // the last
  };
  void take(taken_keys& to) noexcept {
    const std::lock_guard lock(mutex_);
    to.count = std::min(most, keys_.size() - first_);
    for (std::size_t i = 0; i < to.count; ++i)
      catch_all([&] { to.keys[i].emplace(std::move(keys_[first_ + i])); },
                [&] { to.error = std::current_exception(); });
    took(to.count);
  }
  // The oldest, and how many there were that `equal` says are the same. If moving it throws, it is taken.
  struct same_keys {
    Key key;
    std::size_t count;
  };
  template <class Equal>
  [[nodiscard]] std::optional<same_keys> take_oldest(Equal equal) {
    const std::lock_guard lock(mutex_);
    if (first_ == keys_.size()) return std::nullopt;
    std::optional<same_keys> oldest_keys;
    undo_if_thrown([&] { oldest_keys.emplace(same_keys{std::move(keys_[first_]), 1}); }, [&] { took(1); });
    same_keys& taken = *oldest_keys;
    took(1);
    const auto others =
        std::remove_if(oldest(), keys_.end(), [&](const Key& each) { return equal(each, taken.key); });
    taken.count += static_cast<std::size_t>(keys_.end() - others);
    keys_.erase(others, keys_.end());
    took(0);
    return oldest_keys;
  }

 private:
  // With the lock, as all that follow.
  [[nodiscard]] auto oldest() { return keys_.begin() + static_cast<std::ptrdiff_t>(first_); }
  // Taken keys before the oldest one make room as soon as they are more than the keys that are kept.
  void make_room() {
    if (keys_.size() != keys_.capacity()) return;
    if (first_ > keys_.size() / 2) {
      keys_.erase(keys_.begin(), oldest());
      first_ = 0;
    } else {
      keys_.reserve(std::max(2 * keys_.capacity(), least_room));
    }
  }
  // So many of the oldest.
  void took(std::size_t keys) noexcept {
    first_ += keys;
    if (first_ == keys_.size()) {
      keys_.clear();
      first_ = 0;
    }
    count_change();
    count_.store(keys_.size() - first_, std::memory_order_release);
  }
  void count_change() noexcept {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  static constexpr std::size_t least_room = 16;

  std::mutex mutex_;
  std::vector<Key> keys_;
  std::size_t first_ = 0;  // the oldest; those before were taken
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint32_t> changes_{0};
};

}  // namespace teff::detail
