// Keys on their way to a worker for which there is no room in a ring, or no ring. They come from outside the
// workers, or when a ring is full.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace teff::detail {

// A queue of messages of one size: each is a key, or the address of one.
class key_inbox {
 public:
  explicit key_inbox(std::size_t message_bytes) noexcept : bytes_(message_bytes) {}

  // Calls begin() when nothing can throw any more, and nobody sees the message yet. Throws std::bad_alloc.
  template <class Begin>
  void push(const void* message, Begin begin) {
    const std::lock_guard lock(mutex_);
    put(message);
    begin();
    // The lock orders the keys. seq_cst: before the look whether somebody sleeps, which a thread from outside
    // takes without any fence; against a sleeper's last look.
    count_change();
    count_.store(end_ - first_, std::memory_order_seq_cst);
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
  void take(taken_messages& to) noexcept;
  // The oldest alone. Returns how many there were that `by.equal()` says are the same, and none if there is
  // no message. The others of these are given to `by.drop()`.
  struct same_keys {
    void* whom;
    bool (*equal)(void* whom, const void* a, const void* b) noexcept;
    void (*drop)(void* whom, void* message) noexcept;
  };
  [[nodiscard]] std::size_t take_oldest(taken_messages& to, const same_keys& by) noexcept;

 private:
  // With the lock, as all that follow.
  [[nodiscard]] std::byte* at(std::size_t index) const noexcept { return memory_.get() + index * bytes_; }
  void put(const void* message);
  void make_room();
  void took() noexcept;
  void count_change() noexcept {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  static constexpr std::size_t least_room = 16;

  const std::size_t bytes_;  // of a message; most_bytes at most
  std::mutex mutex_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t room_ = 0;   // for so many messages
  std::size_t first_ = 0;  // the oldest; those before were taken
  std::size_t end_ = 0;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint32_t> changes_{0};
};

}  // namespace teff::detail
