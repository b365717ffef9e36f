#pragma once

#include <teff/message.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "teff/apps/tiled_matrix.hpp"

/// Whether tiles go straight from the sender's memory to the receiver's, or are copied at both ends.
enum class message_size : std::uint8_t { large, small };

/// Tiles of some matrices on their way between ranks.
class tile_messages {
 public:
  using arrival = std::function<void(tile_messages&, int matrix, int row, int column)>;

  /// `arrived` is called when the copy of another rank's tile is in its place. It may send.
  tile_messages(teff::communicator& comm, message_size size,
                std::vector<const teff::apps::tiled_matrix*> matrices, const arrival& arrived)
      : size_(size),
        matrices_(std::move(matrices)),
        large_(comm.on_large(
            [this](int matrix, int row, int column, std::size_t) { return place(matrix, row, column); },
            [this, arrived](int matrix, int row, int column, std::span<double>) {
              arrived(*this, matrix, row, column);
            })),
        small_(comm.on([this, arrived](int matrix, int row, int column, std::span<const double> values) {
          std::ranges::copy(values, place(matrix, row, column).begin());
          arrived(*this, matrix, row, column);
        })) {}
  tile_messages(const tile_messages&) = delete;  // its handlers know where it is
  tile_messages& operator=(const tile_messages&) = delete;

  void send(int to, int matrix, int row, int column) {
    const std::span<const double> values = place(matrix, row, column);
    bytes_.fetch_add(static_cast<std::int64_t>(values.size_bytes()), std::memory_order_relaxed);
    if (size_ == message_size::large)
      large_.send(to, matrix, row, column, values);
    else
      small_.send(to, matrix, row, column, values);
  }

  /// send() as a function object.
  [[nodiscard]] auto sender() {
    return [this](int to, int matrix, int row, int column) { send(to, matrix, row, column); };
  }

  /// Only a sum, which is read when all has ended.
  [[nodiscard]] std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::span<double> place(int matrix, int row, int column) const {
    return matrices_[static_cast<std::size_t>(matrix)]->at(row, column).elements();
  }

  message_size size_;
  std::vector<const teff::apps::tiled_matrix*> matrices_;
  teff::large_message<double, int, int, int> large_;
  teff::message<int, int, int, std::span<const double>> small_;
  std::atomic<std::int64_t> bytes_{0};
};

/// A communicator's run() does not end while this rank has tasks left.
class tasks_left {
 public:
  tasks_left(teff::communicator& comm, std::int64_t count) : left_(count) {
    if (count > 0) held_.emplace(comm.hold());
  }
  /// After a task. acq_rel: the thread that ends the run has seen the writes of all tasks.
  void one_done() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) held_.reset();
  }

 private:
  std::atomic<std::int64_t> left_;
  std::optional<teff::communicator::held> held_;
};
