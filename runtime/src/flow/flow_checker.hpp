// Runs the tasks of a flow in order, and compares what each touches with its accesses (flow::check).
#pragma once

#include <teff/detail/flow/flow_task.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace teff::detail {

struct byte_range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// Only the thread that makes the tasks uses it.
class flow_checker {
 public:
  // Runs the body now. Returns a text about the first access that the task did not name, if there is any.
  // Throws what the body throws.
  [[nodiscard]] std::optional<std::string> run(flow_task& task, std::span<const access> accesses);
  // A task is running.
  [[nodiscard]] bool is_within() const noexcept { return !running_.empty(); }
  [[nodiscard]] bool is_within_loop() const noexcept { return in_loop_; }
  // Memory that was named so far may be gone.
  void forget() noexcept { known_ = {}; }
  // This memory may be gone.
  void forget(std::span<const access> accesses) { forget(memory_of(accesses).named); }

 private:
  using ranges = std::vector<byte_range>;
  void forget(const ranges& gone);
  // Ranges that do not overlap.
  struct memory {
    ranges named;
    ranges written;  // named by another access than in()
  };
  [[nodiscard]] static memory memory_of(std::span<const access> accesses);
  [[nodiscard]] static ranges without(ranges all, const ranges& removed);
  // Adds what is not yet there.
  static void add(ranges& to, const ranges& from);

  struct running_task {
    ranges named;
    ranges own;  // what its inner tasks name besides, and no other task does
  };
  // Whether a task may be made in the innermost running one, whose own memory may grow by that. Else what it
  // must not name.
  [[nodiscard]] std::optional<byte_range> check_inner(const ranges& named);

  memory known_;                       // of tasks so far
  std::vector<running_task> running_;  // the innermost last
  bool in_loop_ = false;               // it is a worksharing task
};

}  // namespace teff::detail
