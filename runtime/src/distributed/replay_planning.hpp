// The state of the ranks while they plan a distributed replay.
#pragma once

#include <teff/detail/distributed/replay_ranks.hpp>
#include <teff/message.hpp>

#include "distributed/replay_memory.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
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

  // The facts about a rank. Written by this rank, or by the handlers of that rank's messages; of each kind
  // there is one.
  struct known_rank {
    bool is_peer = false;  // it reads outputs of this rank, or this rank reads its outputs
    std::vector<reader> readers;
    memory_name name;                  // of no size: it shares no memory
    std::vector<std::uint32_t> first;  // of the tasks of each worker: how many tasks come before; then of all
    std::vector<table_entry> table;    // of all its tasks
    bool has_mapped = false;           // this rank's memory
    bool has_fence = false;            // as of own_fence()
    std::shared_ptr<std::byte> memory;
    std::vector<kept_slots> slots;    // of the table, in the memory
    std::vector<awaited> waited_for;  // of this rank's tasks

    [[nodiscard]] std::size_t number(std::uint32_t worker, std::uint32_t index) const noexcept {
      return first[worker] + index;
    }
    [[nodiscard]] std::size_t number(const rank_task& task) const noexcept {
      return number(task.on.worker, task.index);
    }
    void place_slots() {
      for (const auto& [kept, bytes, offset] : table)
        slots.push_back(slots_at(memory.get() + offset, bytes, kept));
    }
  };

  planned(communicator& messages, int ranks);
  planned(const planned&) = delete;
  planned& operator=(const planned&) = delete;

  [[nodiscard]] known_rank& at(int which) noexcept { return from[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const known_rank& at(int which) const noexcept {
    return from[static_cast<std::size_t>(which)];
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
  std::vector<rank_need> needs;
};

}  // namespace teff::detail
