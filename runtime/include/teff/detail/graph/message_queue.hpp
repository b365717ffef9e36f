// Messages from one worker to another.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace teff::detail {

// A queue between two workers: one writes, one reads, and a message costs the transfer of one cache line. It
// consists of rings that follow each other. If a ring is full, the writer goes on in the next one. So it
// never waits for the reader, and most queues are one ring.
//
// Protocol and proof sketch: src/graph/messages.md. tests/graph_model_test.cpp checks this very code.
//
// `Message` is trivially copyable; `Atomic` is std::atomic, or the checker's stand-in.
template <class Message, std::uint32_t capacity = 256, template <class> class Atomic = std::atomic>
class message_queue {
  static_assert(std::has_single_bit(capacity));

 public:
  ~message_queue() {
    for (ring* each = oldest_.load(std::memory_order_relaxed); each != nullptr;)
      delete std::exchange(each, each->next.load(std::memory_order_relaxed));
  }

  // The writer, before send(). Throws std::bad_alloc.
  void make_room() {
    if (newest_ == nullptr || !newest_->has_room()) [[unlikely]]
      add_ring();
  }
  void send(const Message& message) { newest_->send(message); }

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
  static constexpr std::uint32_t lap_of(std::uint32_t position) noexcept { return position / capacity + 1; }
  static constexpr std::size_t slot_size = std::bit_ceil(sizeof(Message) + sizeof(std::uint32_t));

  // The flag of a slot lies beside its message, so that one cache line brings both. It says in which lap
  // round the ring the message was written, so the reader need not write to the slot. A slot is never across
  // two lines.
  struct alignas(slot_size < 64 ? slot_size : 64) slot {
    Message message;
    Atomic<std::uint32_t> lap{0};
  };

  struct ring {
    // The writer. Whether there is room for a message.
    [[nodiscard]] bool has_room() noexcept {
      // Acquire: pairs with the release in receive(): the message that lay here has been copied.
      if (written == limit) limit = consumed.load(std::memory_order_acquire) + capacity;
      return written != limit;
    }
    void send(const Message& message) {
      auto& to = cells[written % capacity];
      to.message = message;
      // Release: the message, and what its sender did before, to the acquire in receive().
      to.lap.store(lap_of(written), std::memory_order_release);
      ++written;
    }
    // The reader.
    [[nodiscard]] bool has_message() const noexcept {
      // Acquire: pairs with the release in send().
      return cells[read % capacity].lap.load(std::memory_order_acquire) == lap_of(read);
    }
    [[nodiscard]] bool receive(Message& message) {
      if (!has_message()) return false;
      message = cells[read % capacity].message;
      ++read;
      // Now and then only: the writer reads this line, and only when it thinks that the ring is full.
      // Release: the copy above, to the acquire in has_room().
      if (read % (capacity / 2) == 0) consumed.store(read, std::memory_order_release);
      return true;
    }

    // The writer's own.
    alignas(64) std::uint32_t written = 0;
    std::uint32_t limit = capacity;
    // The reader's own, but for the writer's rare looks at `consumed`.
    alignas(64) std::uint32_t read = 0;
    Atomic<std::uint32_t> consumed{0};
    Atomic<ring*> next{nullptr};
    alignas(64) slot cells[capacity];
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
