// Whether the tasks of an iteration can run in some order, over all ranks (replay.md).
#include <teff/detail/distributed/replay_ranks.hpp>
#include <teff/distributed_graph.hpp>
#include <teff/error.hpp>

#include "distributed/replay_planning.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace teff::detail {

namespace {

using task_name = std::array<std::int32_t, 3>;  // rank, worker, place in its list

struct ordered_task {
  int waits = 0;  // for tasks of the same iteration
  std::vector<task_name> waited_for_by;
};

}  // namespace

// The first iteration is run as a task graph, without its bodies: of tasks that wait for each other, keys are
// left. Only tasks that another worker reads or is read by take part; the order of each list joins them.
void replay_ranks::refuse_cycles(planned& all) {
  const int own_rank = transport_.rank();
  const auto name = [](int rank, std::uint32_t worker, std::uint32_t index) -> task_name {
    return {rank, static_cast<std::int32_t>(worker), static_cast<std::int32_t>(index)};
  };
  std::map<task_name, ordered_task> own;
  all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task& task) {
    for (const auto& [from, before] : task.reads) {
      if (before == 0 && from.on != rank_worker{own_rank, worker}) ++own[name(own_rank, worker, index)].waits;
    }
  });
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    for (const auto& each : all.at(rank).readers) {
      if (each.before != 0 || (rank == own_rank && each.worker == each.of_worker)) continue;
      own[name(own_rank, each.of_worker, each.of_index)].waited_for_by.push_back(
          name(rank, each.worker, each.index));
    }
  }
  ordered_task* before = nullptr;
  std::int32_t worker_before = -1;
  for (auto& [task, order] : own) {
    if (before != nullptr && task[1] == worker_before) {
      before->waited_for_by.push_back(task);
      ++order.waits;
    }
    before = &order;
    worker_before = task[1];
  }
  distributed_graph<task_name> iteration(messages_);
  iteration.rank([](const task_name& task) { return task[0]; })
      .indegree([&](const task_name& task) { return 1 + own.at(task).waits; })
      .body([&](const task_name& task) {
        for (const auto& each : own.at(task).waited_for_by) iteration.fulfill(each);
      });
  for (const auto& [task, order] : own) iteration.fulfill(task);  // once each, so that it knows all of them
  try {
    iteration.wait();
  } catch (const never_satisfied& left) {
    // By the names that the program knows.
    std::string words = left.what();
    for (const auto& [task, order] : own) {
      const auto numbers = key_text(task);
      if (const auto at = words.find(numbers); at != std::string::npos)
        words.replace(
            at, numbers.size(),
            named({{task[0], static_cast<std::uint32_t>(task[1])}, static_cast<std::uint32_t>(task[2])}));
    }
    throw misuse("teff::distributed_replay: tasks of one iteration wait for each other: " + words);
  }
}

}  // namespace teff::detail
