#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace teff::micro {

inline constexpr int most_dependences = 10;  ///< of a task

/// One run: a grid of tasks, column by column.
struct work {
  std::int32_t rows = 32;
  std::int32_t columns = 1000;
  std::int32_t dependences = 0;      ///< of each task, on tasks of the column before
  std::chrono::nanoseconds spin{0};  ///< in each task
  bool is_inserted = false;          ///< whether the clock starts when all tasks have been made

  [[nodiscard]] std::int64_t tasks() const { return std::int64_t{rows} * columns; }
  [[nodiscard]] std::int64_t edges() const { return std::int64_t{rows} * (columns - 1) * dependences; }
};

/// Reads the flags of a run, with one dash or two. Throws bench::usage_error.
[[nodiscard]] work parse_work(std::span<const std::string> flags);
/// The flags of a run, for people.
[[nodiscard]] std::string work_help();

}  // namespace teff::micro
