#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace teff::micro {

inline constexpr int most_dependences = 10;  ///< of a task

/// What makes the tasks. Tasks of all shapes but the first have no dependences.
enum class shape : std::uint8_t {
  tasks,      ///< one thread makes all of them
  chunks,     ///< a loop, of which free threads take one iteration after the other
  taskloop,   ///< a loop whose iterations are tasks
  recursion,  ///< each task makes two tasks, and waits for them
  regions,    ///< each column is a parallel loop, divided equally among the threads
};

/// One run: a grid of tasks, column by column.
struct work {
  shape made_by = shape::tasks;
  std::int32_t rows = 32;  ///< 0: as many as there are workers
  std::int32_t columns = 1000;
  std::int32_t dependences = 0;      ///< of each task, on tasks of the column before
  std::chrono::nanoseconds spin{0};  ///< in each task
  bool is_inserted = false;          ///< whether the clock starts when all tasks have been made

  [[nodiscard]] std::int64_t tasks() const { return std::int64_t{rows} * columns; }
  [[nodiscard]] std::int64_t edges() const { return std::int64_t{rows} * (columns - 1) * dependences; }
};

/// "tasks" and so on, as --shape takes it.
[[nodiscard]] std::string_view name(shape of);

/// Reads the flags of a run, with one dash or two. Throws bench::usage_error.
[[nodiscard]] work parse_work(std::span<const std::string> flags);
/// The flags of a run, for people.
[[nodiscard]] std::string work_help();

}  // namespace teff::micro
