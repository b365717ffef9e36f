// The layout of a rank's memory (replay.md). Other ranks share the memory, or packets keep their copies of it
// up to date. A worker of a replay sleeps until another worker, maybe of another process, rings its bell.
#pragma once

#include <teff/detail/distributed/replay_ranks.hpp>

#include "platform/bell.hpp"
#include "platform/futex.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace teff::detail {

// The futex of bells that other processes ring.
struct shared_futex {
  template <class T>
  using atomic = std::atomic<T>;
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    wait_at_most(word, expected, {});
  }
  // 0: however long that is.
  static void wait_at_most(const atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::chrono::nanoseconds most) noexcept {
    const auto limit = timespec_of(most);
    ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, most.count() == 0 ? nullptr : &limit, nullptr, 0);
  }
  static void wake_all(const atomic<std::uint32_t>& word) noexcept { futex::wake_all(word); }
};

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

// The outputs of a task with so many bytes, of which so many are kept, from here on.
[[nodiscard]] inline kept_slots slots_at(std::byte* first, std::size_t bytes, std::uint32_t kept) noexcept {
  const auto stamp_at = rounded_up(bytes, alignof(replay_stamp<>));
  return {first, rounded_up(stamp_at + sizeof(replay_stamp<>), 128), stamp_at, kept - 1};
}
[[nodiscard]] inline std::size_t bytes_of(const kept_slots& slots) noexcept {
  return slots.stride * (slots.mask + 1);
}

// At the beginning of a rank's memory; its workers' bells follow, then the outputs of its tasks.
struct alignas(128) replay_ranks::shared_head {
  std::atomic<std::uint32_t> failed{0};  // 1: a part has failed, on this rank or another one
  // How many iterations the rank runs in the replay with this number; which is stored last.
  std::atomic<std::uint64_t> times{0};
  std::atomic<std::uint64_t> replay{0};
};
struct alignas(128) replay_ranks::shared_bell : bell<shared_futex> {};

// The outputs of a task, in the memory of its rank or in a copy of that.
struct replay_ranks::table_entry {
  std::uint32_t kept;
  std::uint64_t bytes;
  std::uint64_t offset;
};

// The facts about a rank, maybe about this one. While the ranks plan, the handlers of that rank's messages
// write them; of each kind there is one.
struct replay_ranks::known_rank {
  bool is_peer = false;              // another rank: it reads outputs of this rank, or the reverse
  bool is_near = false;              // each of the two has the memory of the other one
  bool has_fence = false;            // as of own_fence()
  std::vector<rank_reader> readers;  // its tasks that read outputs of this rank
  std::vector<list_position> read;   // its tasks whose outputs this rank reads, in the order of the reads
  memory_name name;                  // its size is 0 if the rank shares no memory
  // Of each worker, how many tasks of the rank come before the worker's tasks; last, the number of all its
  // tasks.
  std::vector<std::uint32_t> first;
  std::vector<table_entry> table;       // of all its tasks
  std::shared_ptr<std::byte> memory;    // of the rank, or a copy of it that packets write
  std::vector<kept_slots> slots;        // of the table, in the memory
  std::vector<rank_reader> waited_for;  // of this rank's tasks, by which workers of that rank

  [[nodiscard]] std::size_t number(std::uint32_t worker, std::uint32_t index) const noexcept {
    return first[worker] + index;
  }
  [[nodiscard]] std::size_t workers() const noexcept { return first.size() - 1; }
  void place_slots() {
    for (const auto& [kept, bytes, offset] : table)
      slots.push_back(slots_at(memory.get() + offset, bytes, kept));
  }
  [[nodiscard]] shared_head& head() const noexcept { return *reinterpret_cast<shared_head*>(memory.get()); }
};

// The wait of a part that has waited so long that it sleeps.
struct replay_ranks::long_wait {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::atomic<std::uint32_t> wait{none};  // its number in the part
  std::atomic<std::uint64_t> iteration{0};
};

struct rank_signals {
  struct far_rank {
    int rank;
    std::uint32_t entry;
    bool with_output;
  };
  std::vector<bell<shared_futex>*> bells;
  std::vector<far_rank> far;
};

// Before the output in a note.
struct replay_note {
  static constexpr std::uint64_t failure = ~std::uint64_t{0};  // in the place of an entry
  std::uint64_t entry;
  std::uint64_t iteration;
};

// ---- Sleep ----

// tests/rank_replay_model_test.cpp checks this code on its interleavings.

// Returns when done(), which becomes true before the bell is rung. The bell has one sleeper. barrier() has
// all threads that may ring it execute a full fence. So the last look sees the store that makes done() true,
// or the thread that rings sees that the bell was listened to. The thread sleeps in sleep(word, quiet)
// until the bell is rung, or for a while.
template <class Bell, class Done, class Barrier, class Sleep>
void sleep_on(Bell& own, Done done, Barrier barrier, Sleep sleep) noexcept {
  for (;;) {
    const auto quiet = own.listen();
    barrier();
    if (done()) break;
    sleep(own.word(), quiet);
  }
  own.rise();
}

}  // namespace teff::detail
