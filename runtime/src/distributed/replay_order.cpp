// Whether the tasks of an iteration can run in some order, over all ranks (replay.md).
#include <teff/detail/distributed/replay_ranks.hpp>
#include <teff/distributed_graph.hpp>
#include <teff/error.hpp>

#include "distributed/replay_planning.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace teff::detail {

// The first iteration is run as a task graph, without its bodies: of tasks that wait for each other, keys are
// left.
void replay_ranks::refuse_cycles(planned& all) {
  using task_name = std::array<std::int32_t, 3>;  // rank, worker, place in its list
  const int own_rank = transport_.rank();
  const auto name = [](int rank, std::uint32_t worker, std::uint32_t index) -> task_name {
    return {rank, static_cast<std::int32_t>(worker), static_cast<std::int32_t>(index)};
  };
  std::map<task_name, std::vector<task_name>> readers;  // in the same iteration
  for (int rank = 0; rank < transport_.ranks(); ++rank) {
    for (const auto& each : all.at(rank).readers) {
      if (each.before == 0)
        readers[name(own_rank, each.of_worker, each.of_index)].push_back(name(rank, each.worker, each.index));
    }
  }
  const auto list_of = [&](const task_name& task) -> const auto& {
    return all.lists[static_cast<std::size_t>(task[1])];
  };
  distributed_graph<task_name> iteration(messages_);
  iteration.rank([](const task_name& task) { return task[0]; })
      .indegree([&](const task_name& task) {
        const auto& reads = list_of(task)[static_cast<std::size_t>(task[2])].reads;
        return 1 + (task[2] != 0 ? 1 : 0) +
               static_cast<int>(std::ranges::count(reads, 0U, &rank_read::before));
      })
      .body([&](const task_name& task) {
        if (const auto next = task[2] + 1; static_cast<std::size_t>(next) != list_of(task).size())
          iteration.fulfill({task[0], task[1], next});
        if (const auto found = readers.find(task); found != readers.end())
          for (const auto& each : found->second) iteration.fulfill(each);
      });
  // Once each, so that the graph knows all of them.
  all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task&) {
    iteration.fulfill(name(own_rank, worker, index));
  });
  try {
    iteration.wait();
  } catch (const never_satisfied& left) {
    // By the names that the program knows.
    std::string words = left.what();
    all.for_each_task([&](std::uint32_t worker, std::uint32_t index, const rank_planned_task&) {
      const auto numbers = key_text(name(own_rank, worker, index));
      if (const auto at = words.find(numbers); at != std::string::npos)
        words.replace(at, numbers.size(), named({{own_rank, worker}, index}));
    });
    throw misuse("teff::distributed_replay: tasks of one iteration wait for each other: " + words);
  }
}

}  // namespace teff::detail
