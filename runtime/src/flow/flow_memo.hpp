// The tasks of a period that a program makes again and again, and which of them waits for which (README.md,
// "Repetition").
#pragma once

#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/flow_task.hpp>

#include "flow/flow_history.hpp"
#include "flow/flow_recording.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace teff::detail {

class flow_memo;

// A task of a round, which lies in the round's memory. The table does not know it.
struct waited_for {
  release_list<flow_waiter> waiting;  // tasks in the table that wait for the end of this one
};
struct repeated_task : waited_for, flow_task {};

// Another task, or a join, that a task or a join counts down when it has ended. A join has no body: it ends
// when all have ended that it counts, and stands for the end of a group of accesses.
struct memo_follower {
  bool next;           // in the round after this one
  std::uint32_t at;    // in the round
  std::uint32_t join;  // its number from 1 on; 0: a task

  friend auto operator<=>(const memo_follower&, const memo_follower&) = default;
};

struct memo_node {
  std::uint32_t waits = 0;  // for so many tasks and joins
  std::uint32_t at = 0;     // in the round
  std::vector<memo_follower> followers{};
};
struct memo_task : memo_node {
  flow_record of{};
  std::size_t closure = 0;            // behind the task, so many bytes from its begin on
  std::vector<std::uint32_t> rows{};  // of its reductions, in their order
};

// A run of the period: its tasks and joins lie behind it.
struct alignas(64) memo_round {
  flow_memo* of;
  memo_round* next = nullptr;              // made before a task of this round is submitted
  bool is_first = false;                   // its tasks lie in the table, which orders them among themselves
  std::atomic<std::uint32_t> in_table{0};  // tasks of the first round that have not ended

  [[nodiscard]] repeated_task& task(std::uint32_t at) noexcept {
    return *reinterpret_cast<repeated_task*>(reinterpret_cast<std::byte*>(this) + at);
  }
  [[nodiscard]] open_count<>& join(std::uint32_t at) noexcept {
    return *reinterpret_cast<open_count<>*>(reinterpret_cast<std::byte*>(this) + at);
  }
};

class flow_memo {
 public:
  // Throws std::bad_alloc.
  flow_memo(flow_core& flow, std::vector<flow_record> period);
  ~flow_memo();
  flow_memo(const flow_memo&) = delete;
  flow_memo& operator=(const flow_memo&) = delete;

  // False: a reduction shares its memory with other accesses in a way that takes a table.
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

  std::vector<memo_task> tasks;
  std::vector<memo_node> joins;
  // The last reduction in a row that the current round has. The next one takes its turn after it.
  std::vector<reduction_part*> rows;

  // ---- The creator ----

  memo_round* current;             // of the task that is made next, which is
  std::uint32_t position = 0;      // this one of the period
  memo_round* previous = nullptr;  // null: all its tasks have ended
  // The next round begins. The round after it is made. Throws std::bad_alloc.
  void begin_round();
  // Whether all tasks that were made have ended.
  [[nodiscard]] bool has_ended() const noexcept;

 private:
  void find_rows();
  void connect(const recorded_waits& waits);
  void place();
  // `made`: so many tasks of the round were made.
  [[nodiscard]] bool has_ended(memo_round& round, std::size_t made) const noexcept;
  [[nodiscard]] memo_round* fresh(const memo_round* keep_from);
  static void free(memo_round* round) noexcept;

  bool is_whole_ = true;
  std::size_t bytes_ = 0;  // of a round
  memo_round* oldest_ = nullptr;
};

// The repetition of a flow's tasks, as far as the flow has noticed it. Only the creator uses this.
struct flow_repetition {
  enum class step : std::uint8_t {
    watches,  // for a period
    gathers,  // the tasks of a period
    links,    // those of the first round
    repeats,  // tasks are of the memo
  };
  static constexpr std::uint64_t few_tasks = 128;

  step now = step::watches;
  flow_history history;
  std::vector<flow_record> gathered;
  std::unique_ptr<flow_memo> memo;
  std::unique_ptr<flow_memo> left;  // tasks of it may not have ended
  std::uint64_t least = few_tasks;  // so many tasks in a row come again before it takes them for a period
  std::uint64_t noted = 0;          // tasks that the table ordered
  std::uint64_t repeated = 0;       // tasks of the memo
};

}  // namespace teff::detail
