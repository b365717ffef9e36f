#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/task_order.hpp"
#include "teff/graphs/task_rows.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// A graph on a system whose threads wait for each other: one for each column, which executes the column's
/// tasks one after the other. A `Link` for each pair of which one waits for the other is made at its first
/// lookup, without arguments, and stays where it is. The workload must outlive it.
template <class Link>
class linked_columns {
 public:
  linked_columns(workload& work, std::size_t index)
      : work_(work),
        index_(index),
        table_(work.table(index)),
        outputs_(table_, kept),
        order_(table_),
        rows_(table_, {0, width() - 1}, kept, std::bind_front(&linked_columns::look_up, this)) {}

  [[nodiscard]] std::int64_t width() const { return table_.graph().width; }

  /// Executes the tasks of a point. Called in its thread. Before a task it calls wait(link) for each column
  /// that the task waits for, after it tell(link, timestep) for each that waits for it. `worker` says on
  /// which worker the caller runs, which may be another one after a wait.
  template <class Worker, class Wait, class Tell>
  void run(std::int64_t point, Worker worker, Wait wait, Tell tell) {
    row scratch;
    const std::int64_t steps = table_.graph().steps;
    for (std::int64_t timestep = 0; timestep < steps; ++timestep) {
      if (!table_.points(timestep).contains(point)) continue;
      const row& task = rows_.at(timestep, point, scratch, std::bind_front(&linked_columns::look_up, this));
      for (Link* each : task.before) wait(*each);
      execute(timestep, point, worker);
      if (timestep + 1 < steps)
        for (Link* each : task.after) tell(*each, timestep);
    }
  }

 private:
  static constexpr std::int64_t kept = 2;  ///< timesteps whose outputs are kept

  /// The tasks that a task waits for, and the tasks that wait for it.
  struct row {
    std::vector<Link*> before;
    std::vector<Link*> after;
  };

  /// Not inline: a wait may move the caller to another thread, which has other thread-local variables.
  template <class Worker>
  [[gnu::noinline]] void execute(std::int64_t timestep, std::int64_t point, Worker& worker) {
    graphs::execute(work_, outputs_, index_, timestep, point, worker());
  }

  void look_up(std::int64_t timestep, std::int64_t point, row& task) {
    task.before.clear();
    task.after.clear();
    order_.for_each_predecessor(timestep, point, [&](std::int64_t from) {
      if (from != point) task.before.push_back(&between(from, point));
    });
    order_.for_each_successor(timestep, point, [&](std::int64_t to) {
      if (to != point) task.after.push_back(&between(point, to));
    });
  }

  /// Where the width varies, columns look up their rows while others run.
  Link& between(std::int64_t from, std::int64_t to) {
    const std::lock_guard lock(guard_);
    return links_.try_emplace({from, to}).first->second;
  }

  workload& work_;
  std::size_t index_;
  const dependence_table& table_;
  kept_outputs outputs_;
  task_order order_;
  std::mutex guard_;
  std::map<std::pair<std::int64_t, std::int64_t>, Link> links_;
  task_rows<row> rows_;
};

}  // namespace teff::graphs
