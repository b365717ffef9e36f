// Messages that have come and wait to be handled (src/message/README.md).
#pragma once

#include <teff/transport.hpp>
#include "message/wire.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace teff::detail {

// A packet's header is followed by its records; `at` is where a record begins.
[[nodiscard]] inline record_header record_at(const packet& bytes, std::size_t at) noexcept {
  record_header header;
  std::memcpy(&header, bytes.data() + at, sizeof header);
  return header;
}
[[nodiscard]] inline std::span<const std::byte> arguments_at(const packet& bytes, std::size_t at) noexcept {
  return bytes.bytes().subspan(at + sizeof(record_header), record_at(bytes, at).size);
}
// How many records of the packet are ordered; nothing if it does not have exactly so many records.
[[nodiscard]] inline std::optional<std::uint32_t> ordered_among(const packet& bytes,
                                                                std::uint32_t records) noexcept {
  std::uint32_t ordered = 0;
  std::size_t at = sizeof(packet_header);
  for (; records != 0; --records) {
    if (bytes.size() - at < sizeof(record_header)) return std::nullopt;
    const auto head = record_at(bytes, at);
    const auto size = record_bytes(head.size);
    if (size > bytes.size() - at) return std::nullopt;
    ordered += head.ordered;
    at += size;
  }
  return at == bytes.size() ? std::optional(ordered) : std::nullopt;
}

// A packet of messages that has come. Several workers take its records at the same time, one record a call.
class arrived_batch {
 public:
  arrived_batch(int from, packet bytes) noexcept : from_(from), bytes_(std::move(bytes)) {}

  [[nodiscard]] int from() const noexcept { return from_; }
  [[nodiscard]] const packet& bytes() const noexcept { return bytes_; }
  // Takes the next record that is ordered, or not, and returns where it lies; nothing if all were taken.
  std::optional<std::size_t> take(bool ordered) noexcept {
    // Relaxed: the worker found the batch under the lock of its queue, which orders the bytes. Of ordered
    // records, ordered_messages::end() orders what the worker did that had the turn before.
    auto& next = next_[ordered ? 1 : 0];
    auto at = next.load(std::memory_order_relaxed);
    while (at < bytes_.size()) {
      const auto head = record_at(bytes_, at);
      const auto end = at + record_bytes(head.size);
      if (!next.compare_exchange_weak(at, end, std::memory_order_relaxed)) continue;
      if ((head.ordered != 0) == ordered) return at;
      at = end;
    }
    return std::nullopt;
  }

 private:
  int from_;
  packet bytes_;
  std::atomic<std::size_t> next_[2] = {sizeof(packet_header), sizeof(packet_header)};
};

// Batches in the order in which they came. A batch stays at the front until all its records are taken.
class arrived_messages {
 public:
  explicit arrived_messages(bool ordered = false) : ordered_(ordered) {}

  void put(std::shared_ptr<arrived_batch> batch) {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
    // seq_cst: before work_came() looks for sleepers; pairs with empty() in the last look of a worker.
    size_.store(batches_.size(), std::memory_order_seq_cst);
  }
  // Takes records and calls use(batch, at) for each, `most` of them at most. Returns how many it has taken.
  template <class Use>
  int take(int most, Use use) {
    int taken = 0;
    for (auto batch = front(); batch != nullptr && taken != most;) {
      if (const auto at = batch->take(ordered_)) {
        use(*batch, *at);
        ++taken;
      } else {
        drop(batch);
        batch = front();
      }
    }
    return taken;
  }
  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }

 private:
  [[nodiscard]] std::shared_ptr<arrived_batch> front() {
    if (empty()) return nullptr;
    const std::lock_guard lock(mutex_);
    return batches_.empty() ? nullptr : batches_.front();
  }
  // Drops this batch, whose records are all taken, unless another worker has done so.
  void drop(const std::shared_ptr<arrived_batch>& batch) {
    const std::lock_guard lock(mutex_);
    if (batches_.empty() || batches_.front() != batch) return;
    batches_.pop_front();
    size_.store(batches_.size(), std::memory_order_relaxed);
  }

  const bool ordered_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<arrived_batch>> batches_;
  std::atomic<std::size_t> size_{0};
};

// Batches with messages whose handlers run one after the other: one worker at a time has the turn to take
// them.
class ordered_messages : public arrived_messages {
 public:
  ordered_messages() : arrived_messages(true) {}
  // Whether messages wait, and no worker has the turn.
  [[nodiscard]] bool waiting() const noexcept {
    // seq_cst: pairs with end() in the last look of a worker.
    return !empty() && !busy_.load(std::memory_order_seq_cst);
  }
  // Gives the caller the turn, until it calls end(). Returns false if another worker has it, or there is
  // nothing.
  [[nodiscard]] bool begin() noexcept {
    // Acquire: the records that were taken; pairs with end().
    return waiting() && !busy_.exchange(true, std::memory_order_acquire);
  }
  void end() noexcept { busy_.store(false, std::memory_order_seq_cst); }

 private:
  std::atomic<bool> busy_{false};  // a worker has the turn
};

}  // namespace teff::detail
