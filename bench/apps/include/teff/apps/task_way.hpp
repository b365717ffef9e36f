#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "teff/apps/ways.hpp"

namespace teff::apps {

/// Steps as tasks. A system says how a task is made.
///
/// Steps and fields are cut into parts. A task has one part of a step, or several parts in a row. So the
/// accesses of all tasks begin and end where parts do, and a system looks after few pieces of a field.
class task_way : public way {
 public:
  /// A step is cut into so many tasks. With 0, the way times the first two steps of each type. After that, it
  /// cuts a step into so many tasks that a task lasts about 20 us. But each worker has at least one task of a
  /// step, and at most 16. A type that comes later has as many tasks as the type with the most.
  task_way(std::int64_t tasks, int workers)
      : parts_(tasks > 0 ? tasks : workers), workers_(tasks > 0 ? 0 : workers) {}

  void run(const step& each) final;
  [[nodiscard]] std::map<std::string, std::int64_t> tasks_by_type() const final;

 protected:
  /// Makes the task that runs these iterations of a step.
  virtual void make(const step& of, range some, const access_list& accesses) = 0;
  [[nodiscard]] std::int64_t parts() const { return parts_; }

 private:
  struct type_of_step {
    int steps = 0;                              ///< that were timed
    std::atomic<std::int64_t> nanoseconds = 0;  ///< that their bodies took
    std::int64_t tasks = 0;                     ///< of a step; 0: not known yet
  };

  void choose_tasks();
  void make_tasks(const step& each, std::int64_t tasks);

  std::int64_t parts_;
  int workers_;  ///< 0: steps are not timed, or no longer
  std::map<std::string_view, type_of_step> types_;
  access_list accesses_;
};

}  // namespace teff::apps
