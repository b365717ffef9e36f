// Messages from one worker to another.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

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

// Rings that follow each other: where one is full, the writer goes on in the next one. So it never waits for
// the reader, and most queues are one ring.
template <class Message, std::uint32_t capacity = 256, template <class> class Atomic = std::atomic>
class message_queue {
 public:
  message_queue() noexcept = default;
  message_queue(const message_queue&) = delete;
  message_queue& operator=(const message_queue&) = delete;
  ~message_queue() {
    for (ring* each = oldest_.load(std::memory_order_relaxed); each != nullptr;)
      delete std::exchange(each, each->next.load(std::memory_order_relaxed));
  }

  // The writer, before send(). Throws std::bad_alloc.
  void make_room() {
    if (newest_ == nullptr || !newest_->has_room()) [[unlikely]]
      add_ring();
  }
  void send(const Message& message) { static_cast<void>(newest_->send(message)); }

  // The reader. False: there is no message.
  [[nodiscard]] bool receive(Message& message) {
    // Acquire: the empty ring, with the release in add_ring().
    ring* const oldest = oldest_.load(std::memory_order_acquire);
    if (oldest == nullptr) return false;
    if (oldest->receive(message)) return true;
    // Acquire: with the release in add_ring(), after all messages of the ring before.
    ring* const next = oldest->next.load(std::memory_order_acquire);
    if (next == nullptr) return false;
    if (oldest->receive(message)) return true;
    oldest_.store(next, std::memory_order_relaxed);  // the reader's own from the first message on
    delete oldest;
    return next->receive(message);
  }
  // The reader. Whether receive() might find a message.
  [[nodiscard]] bool may_have_message() const noexcept {
    const ring* const oldest = oldest_.load(std::memory_order_acquire);
    return oldest != nullptr &&
           (oldest->has_message() || oldest->next.load(std::memory_order_acquire) != nullptr);
  }

 private:
  struct ring : message_ring<Message, capacity, Atomic> {
    Atomic<ring*> next{nullptr};
  };

  [[gnu::noinline]] void add_ring() {
    auto* const made = new ring;
    (newest_ == nullptr ? oldest_ : newest_->next).store(made, std::memory_order_release);
    newest_ = made;
  }

  Atomic<ring*> oldest_{nullptr};
  ring* newest_ = nullptr;  // the writer's own
};

}  // namespace teff::detail
