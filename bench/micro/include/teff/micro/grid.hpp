#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/micro/work.hpp"

namespace teff::micro {

/// A grid of tasks and the values that they compute. A task needs the tasks (row + k) % rows of the column
/// before, k from 0 to dependences - 1. Its value is made of their values. Tasks may run on several threads
/// at once.
class grid {
 public:
  explicit grid(const work& asked) : asked_(asked), values_(static_cast<std::size_t>(asked.tasks())) {}

  [[nodiscard]] const work& asked() const { return asked_; }
  [[nodiscard]] std::int32_t rows() const { return asked_.rows; }
  [[nodiscard]] std::int32_t columns() const { return asked_.columns; }
  /// A task's number: column by column.
  [[nodiscard]] std::size_t index(std::int32_t row, std::int32_t column) const {
    return static_cast<std::size_t>(column) * static_cast<std::size_t>(asked_.rows) +
           static_cast<std::size_t>(row);
  }
  [[nodiscard]] std::int32_t indegree(std::int32_t column) const {
    return column > 0 ? asked_.dependences : 0;
  }

  /// Calls visit(row) for each task of the column before that a task needs; it is not in the first column.
  template <class Visit>
  void predecessors(std::int32_t row, Visit&& visit) const {
    for (std::int32_t k = 0, each = row; k < asked_.dependences; ++k) {
      visit(each);
      if (++each == asked_.rows) each = 0;
    }
  }
  /// Calls visit(row) for each task of the column behind that needs a task; it is not in the last column.
  template <class Visit>
  void successors(std::int32_t row, Visit&& visit) const {
    for (std::int32_t k = 0, each = row; k < asked_.dependences; ++k) {
      visit(each);
      if (each-- == 0) each = asked_.rows - 1;
    }
  }

  /// The task, by its number.
  void execute(std::int64_t index) {
    execute(static_cast<std::int32_t>(index % asked_.rows), static_cast<std::int32_t>(index / asked_.rows));
  }
  void execute(std::int32_t row, std::int32_t column) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    const auto began = asked_.spin.count() > 0 ? clock::now() : clock::time_point();
    std::uint64_t value = index(row, column) + 1;
    if (column > 0) {
      const std::uint64_t* const before = &values_[index(0, column - 1)];
      predecessors(row, [&](std::int32_t each) { value += before[each]; });
    }
    values_[index(row, column)] = value * odd;
    if (asked_.spin.count() > 0)
      while (clock::now() - began < asked_.spin) {
      }
  }

  /// Forgets all values, before a run.
  void reset();
  /// Of all values.
  [[nodiscard]] std::uint64_t checksum() const;

 private:
  using clock = std::chrono::steady_clock;

  work asked_;
  std::vector<std::uint64_t> values_;
};

/// Runs the grid from a task on, as a recursion: both(f, g) runs f and g as tasks, and waits for them.
template <class Both>
void recurse(grid& tasks, const Both& both, std::int64_t index = 0) {
  tasks.execute(index);
  const std::int64_t left = 2 * index + 1;
  if (left >= tasks.asked().tasks()) return;
  both([&tasks, &both, left] { recurse(tasks, both, left); },
       [&tasks, &both, left] {
         if (left + 1 < tasks.asked().tasks()) recurse(tasks, both, left + 1);
       });
}

/// The checksum that the grid has when one thread runs it in order.
[[nodiscard]] std::uint64_t expected_checksum(work asked);

}  // namespace teff::micro
