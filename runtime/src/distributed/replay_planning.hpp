// The state of the ranks while they plan a distributed replay.
#pragma once

#include <teff/detail/distributed/replay_ranks.hpp>
#include <teff/message.hpp>

#include "distributed/replay_memory.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace teff::detail {

struct replay_ranks::planned {
  // A task of another rank that reads an output of this one.
  struct reader {
    std::uint32_t of_worker;
    std::uint32_t of_index;
    std::uint32_t worker;
    std::uint32_t index;
    std::uint32_t before;
  };
  // A worker of another rank waits for a task of this one.
  struct awaited {
    std::uint32_t of_worker;
    std::uint32_t of_index;
    std::uint32_t worker;
    friend auto operator<=>(const awaited&, const awaited&) = default;
  };
  using numbers = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

  // The facts about a rank that it has told. Written by the handlers of its messages; of each kind there is
  // one.
  struct known_rank {
    bool is_peer = false;
    std::vector<reader> readers;
    memory_name name;
    std::vector<std::uint32_t> tasks;  // of each worker
    std::vector<table_entry> table;    // of its tasks
    numbers numbers_there;             // in that
    std::vector<table_entry> sent;     // of this rank's tasks, to it
    numbers number;                    // in that
    bool has_mapped = false;           // this rank's memory
    bool has_fence = false;            // as of own_fence()
    std::shared_ptr<std::byte> memory;
    std::vector<awaited> waited_for;  // of this rank's tasks
  };
  struct own_task {
    std::uint32_t most_before = 0;  // of its readers
    std::uint32_t kept = 1;
    std::uint64_t offset = 0;
    kept_slots slots;
  };

  planned(communicator& messages, int ranks);
  planned(const planned&) = delete;
  planned& operator=(const planned&) = delete;

  [[nodiscard]] known_rank& at(int which) noexcept { return from[static_cast<std::size_t>(which)]; }
  [[nodiscard]] std::vector<std::uint32_t> tasks_of_workers() const {
    std::vector<std::uint32_t> tasks;
    for (const auto& each : lists) tasks.push_back(static_cast<std::uint32_t>(each.size()));
    return tasks;
  }
  // Calls use(worker, index, task).
  template <class Use>
  void for_each_task(Use use) const {
    for (std::uint32_t worker = 0; worker < lists.size(); ++worker) {
      for (std::uint32_t index = 0; index < lists[worker].size(); ++index)
        use(worker, index, lists[worker][index]);
    }
  }

  message<int, std::vector<reader>> send_readers;
  message<int, std::array<std::uint64_t, 3>, std::vector<std::uint32_t>, std::vector<table_entry>> send_table;
  message<int, bool, bool, std::vector<awaited>> send_needs;

  rank_lists lists;
  std::vector<known_rank> from;
  std::vector<std::vector<own_task>> own;  // as the lists
  memory_name name;
  std::vector<rank_need> needs;
};

}  // namespace teff::detail
