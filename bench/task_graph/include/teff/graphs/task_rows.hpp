#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/graphs/dependence_table.hpp"

namespace teff::graphs {

/// The facts that a system needs about each task, computed before the timed region. If a graph's width is
/// steady, its dependences repeat after a cycle of timesteps. The places of outputs repeat too, if the
/// outputs of timestep t lie where those for t - `kept` lay. So there is one row for each task of one cycle.
/// A row may hold facts that follow from a task's dependences, from the dependences of earlier tasks whose
/// outputs are still kept, and from the places of outputs. If the width varies, or rows would take much
/// memory, a row is made when it is asked for. The table must outlive the rows; only the constructor changes
/// them.
template <class Row>
class task_rows {
 public:
  /// There are rows for the points in `columns`. make(timestep, point, row) turns any row into that task's
  /// row.
  template <class Make>
  task_rows(const dependence_table& table, interval columns, std::int64_t kept, Make make)
      : columns_(columns),
        kept_(kept),
        cycle_(kept * table.graph().dependence_sets()),
        mask_(std::has_single_bit(static_cast<std::uint64_t>(cycle_)) ? cycle_ - 1 : 0) {
    const auto tasks = static_cast<std::size_t>(cycle_ * columns.size());
    if (table.graph().pattern->varying_width ||
        tasks * std::max<std::size_t>(table.max_inputs(), 1) > most_inputs)
      return;
    rows_.resize(tasks);
    for (std::int64_t t = kept; t < std::min(table.graph().steps, kept + cycle_); ++t)
      for (std::int64_t point = columns.first; point <= columns.last; ++point)
        make(t, point, rows_[index(t, point)]);
  }

  /// Returns the row of a task. If there is none, makes it in `scratch`, by `make` as in the constructor.
  template <class Make>
  [[nodiscard]] const Row& at(std::int64_t timestep, std::int64_t point, Row& scratch, Make make) const {
    if (timestep >= kept_ && !rows_.empty()) [[likely]]
      return rows_[index(timestep, point)];
    make(timestep, point, scratch);
    return scratch;
  }

 private:
  /// The most inputs of all tasks that have rows: 16 MiB, if a row keeps a span for each.
  static constexpr std::size_t most_inputs = std::size_t{1} << 20;

  [[nodiscard]] std::size_t index(std::int64_t timestep, std::int64_t point) const {
    const std::int64_t row = mask_ != 0 ? timestep & mask_ : timestep % cycle_;
    return static_cast<std::size_t>(row * columns_.size() + point - columns_.first);
  }

  interval columns_;
  std::int64_t kept_;
  std::int64_t cycle_;  ///< timesteps
  std::int64_t mask_;   ///< of the cycle, where it is a power of two
  std::vector<Row> rows_;
};

}  // namespace teff::graphs
