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
// Whether the packet has exactly so many records.
[[nodiscard]] inline bool has_whole_records(const packet& bytes, std::uint32_t records) noexcept {
  std::size_t at = sizeof(packet_header);
  for (; records != 0; --records) {
    if (bytes.size() - at < sizeof(record_header)) return false;
    const auto size = record_bytes(record_at(bytes, at).size);
    if (size > bytes.size() - at) return false;
    at += size;
  }
  return at == bytes.size();
}

// A packet of messages that has come. Several workers take its records at the same time, one record a call.
class arrived_batch {
 public:
  arrived_batch(int from, packet bytes) noexcept : from_(from), bytes_(std::move(bytes)) {}

  [[nodiscard]] int from() const noexcept { return from_; }
  [[nodiscard]] const packet& bytes() const noexcept { return bytes_; }
  // Takes a record, and returns where it lies; nothing if all were taken.
  std::optional<std::size_t> take() noexcept {
    // Relaxed: the worker found the batch under the lock of its queue, which orders the bytes.
    auto at = next_.load(std::memory_order_relaxed);
    while (at < bytes_.size()) {
      const auto end = at + record_bytes(record_at(bytes_, at).size);
      if (next_.compare_exchange_weak(at, end, std::memory_order_relaxed)) return at;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint32_t ordered() const noexcept {
    std::uint32_t count = 0;
    for (std::size_t at = sizeof(packet_header); at < bytes_.size();) {
      const auto head = record_at(bytes_, at);
      count += head.ordered != 0 ? 1 : 0;
      at += record_bytes(head.size);
    }
    return count;
  }

 private:
  int from_;
  packet bytes_;
  std::atomic<std::size_t> next_{sizeof(packet_header)};
};

// Batches in the order in which they came. A batch stays at the front until all its records are taken.
class arrived_messages {
 public:
  void put(std::shared_ptr<arrived_batch> batch) {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
    // seq_cst: before work_came() looks for sleepers; pairs with empty() in the last look of a worker.
    size_.store(batches_.size(), std::memory_order_seq_cst);
  }
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
  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_seq_cst) == 0; }

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<arrived_batch>> batches_;
  std::atomic<std::size_t> size_{0};
};

// Batches with messages whose handlers run one after the other. One worker at a time has the turn: it takes
// these messages, and locks only at the end of a batch.
class ordered_messages {
 public:
  struct record {
    const arrived_batch* batch;
    std::size_t at;
  };
  void put(std::shared_ptr<arrived_batch> batch) { batches_.put(std::move(batch)); }
  // Whether messages wait, and no worker has the turn.
  [[nodiscard]] bool waiting() const noexcept {
    // seq_cst: pairs with end() in the last look of a worker.
    return !batches_.empty() && !busy_.load(std::memory_order_seq_cst);
  }
  // Gives the caller the turn, until it calls end(). Returns false if another worker has it, or there is
  // nothing.
  [[nodiscard]] bool begin() noexcept {
    // Acquire: the members that follow busy_; pairs with end().
    return waiting() && !busy_.exchange(true, std::memory_order_acquire);
  }
  // In a turn: takes the next message, whose batch stays until the next call; nothing if there is none.
  [[nodiscard]] std::optional<record> next() {
    while (current_ || (current_ = batches_.front())) {
      while (at_ < current_->bytes().size()) {
        const auto head = record_at(current_->bytes(), at_);
        const auto at = std::exchange(at_, at_ + record_bytes(head.size));
        if (head.ordered != 0) return record{current_.get(), at};
      }
      batches_.drop(std::exchange(current_, nullptr));
      at_ = sizeof(packet_header);
    }
    return std::nullopt;
  }
  void end() noexcept { busy_.store(false, std::memory_order_seq_cst); }

 private:
  arrived_messages batches_;
  std::atomic<bool> busy_{false};  // a worker has the turn
  // Used by the worker that has the turn; end() and begin() hand it over.
  std::shared_ptr<arrived_batch> current_;
  std::size_t at_ = sizeof(packet_header);  // where the rest of current_ begins
};

}  // namespace teff::detail
