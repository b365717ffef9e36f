// The tasks of a flow that have not ended, with their accesses, for a program that waits too long
// (TEFF_WATCHDOG).
#pragma once

#include <teff/detail/flow/flow_task.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace teff::detail {

// Threads of the flow tell it what tasks do, each under a lock. So only a flow that is watched has one.
class flow_watch {
 public:
  // Before the task is placed after others. Throws std::bad_alloc.
  void add(const flow_task& task, std::span<const access> accesses);
  // A handle or an event holds the end of the task.
  void hold(const flow_task& task) noexcept;
  void remove(const flow_task& task) noexcept;

  // The body begins on the worker, or it has returned there.
  enum class step : std::uint8_t { made, runs, returned };
  void go_to(const flow_task& task, step at, unsigned worker) noexcept;

  // Which tasks have not ended, and which of them another task keeps from what: the oldest ones in words.
  [[nodiscard]] std::string state() const;

 private:
  struct entry {
    std::uint64_t number;  // in the order of making
    const flow_task* parent;
    const char* name;
    std::vector<access> accesses;
    step at = step::made;
    unsigned worker = 0;
    bool is_held = false;
  };
  struct holder {
    const entry* task;
    const access* by;
  };

  [[nodiscard]] holder holder_of(const entry& task, const access& what) const;
  [[nodiscard]] std::string text_of(const entry& task) const;

  mutable std::mutex mutex_;  // guards what follows
  std::map<const flow_task*, entry> tasks_;
  std::uint64_t made_ = 0;
};

}  // namespace teff::detail
