// The data that a flow keeps of a task (src/flow/README.md).
#pragma once

#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/access_group.hpp>
#include <teff/detail/ready/ready_queues.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace teff::detail {

class flow_domain;
struct flow_loop;
struct flow_member;
struct flow_task;
struct memo_round;

// The kinds of waiter for the end of a group of accesses.
enum class waiter_kind : std::uint8_t {
  access,  // a task that may not begin before
  group,   // a later group of the same kind, which ends no earlier
  gate,    // the inner tasks of a task with a weak access
  inner,   // the end of a weak access
  turns,   // the first turn of a reduction
  end,     // a task that stands in the table for one of a memo
};
struct flow_waiter {
  flow_waiter() noexcept {}  // so that fields of flow_member lie in the padding

  flow_waiter* next;
  flow_member* member;
  waiter_kind kind;
};

// Rows of memory, equally far from each other, with room between them.
struct flow_box {
  std::uintptr_t begin;
  std::size_t bytes;  // of a row
  std::size_t rows;
  std::size_t stride;  // bytes from row to row; 0: there is one row

  [[nodiscard]] std::uintptr_t end() const noexcept { return begin + (rows - 1) * stride + bytes; }
  friend bool operator==(const flow_box&, const flow_box&) = default;
};

// A weak access: inner tasks wait for `gate`, which the group before opens.
struct weak_part {
  explicit weak_part(const flow_box& of) noexcept : memory(of) {}
  const flow_box memory;
  release_list<flow_waiter> gate;
  open_count<> end;  // the gate, and the last groups of the inner tasks
  std::uint32_t parts = 0;
};

// A task's part in a reduction: combine() adds its private copy to the result.
struct reduction_part : turn_taker<> {
  void (*combine)(reduction_part&) = nullptr;
  flow_member* member = nullptr;
};

// A task's access to one range, and its place in a group. Only a lock or turns order the
// accesses of a group. The group lies in the member that began it.
//
// It fills one line: most members go to the core of another worker and back.
struct flow_member : flow_waiter {
  access_mode mode;
  bool is_weak : 1 = false;  // a weak access, whose mode is `in` or `write`
  bool leads : 1 = false;    // a group lies here
  bool is_link : 1 = false;  // it stands for no access, and only waits
  bool bounds : 1 = false;   // of a reduction: later members wait for its turn, in `waiting`
  open_count<>
      members;  // counts the members of the group that have not ended; a writer is alone and counts none
  flow_task* task;
  flow_member* leader = nullptr;      // of its group
  flow_member* more = nullptr;        // of the task, beyond those that lie in it
  release_list<flow_waiter> waiting;  // for the end of the group, or for a turn

  // The access has one of the following beside its place in a group, or nothing: null.
  void* part = nullptr;
  [[nodiscard]] weak_part* weak() const noexcept { return is_weak ? static_cast<weak_part*>(part) : nullptr; }
  // Of a reduction.
  [[nodiscard]] reduction_part* turn() const noexcept {
    return mode == access_mode::reduction ? static_cast<reduction_part*>(part) : nullptr;
  }
  // Of the group of a commutative access; the leader owns it.
  using group_lock = handed_lock<flow_waiter>;
  [[nodiscard]] group_lock* lock() const noexcept {
    return mode == access_mode::commutative ? static_cast<group_lock*>(part) : nullptr;
  }
};
static_assert(sizeof(flow_member) <= 64 || sizeof(void*) != 8);

// How a task of some type runs.
struct flow_body {
  void (*run)(flow_task&);
  void (*destroy)(flow_task&) noexcept;
  // The parts of its reductions, which lie in its closure; as many as it has.
  reduction_part* (*reduction)(flow_task&, std::size_t index) noexcept;
  const char* (*name)() noexcept;
  // The loop of a worksharing task; null: the task is none.
  flow_loop* (*loop)(flow_task&) noexcept = nullptr;
  // The body is a coroutine, and has not ended; null: the body is none.
  bool (*goes_on)(flow_task&) noexcept = nullptr;
};

// The step of a task that comes when the parts which it counts have ended.
enum class parts_before : std::uint8_t {
  end,         // the end of the task
  reductions,  // its reductions, which are parts, too
  body,        // its body goes on, which waits for the inner tasks
};

struct flow_task : runnable {
  bool counted = false;  // as one whose body has run
  bool has_locks : 1 = false;
  bool stands_in : 1 = false;  // in the table, for a task of a memo
  bool has_more = false;       // members beyond those that lie in it, locks, weak accesses or reductions
  std::uint32_t count;         // of members that lie in it
  std::uint32_t room;          // for so many
  open_count<> missing;        // groups that it waits for
  open_count<> unended;        // parts that its end waits for: inner tasks, reductions, weak accesses
  // How many owners keep the task's memory. The task itself is one until it has ended. Each of its groups is
  // one until the group has ended, and one more until the table of its domain has forgotten it.
  std::atomic<std::uint32_t> references;
  std::uint32_t awaited = 0;  // how much `unended` will count
  unsigned place;
  std::uint32_t number;             // in its round
  const void* last_lock = nullptr;  // the task holds the locks of its commutative accesses up to this address
  std::uint32_t recorded = 0;       // its number in the recording that keeps it, from 1 on; else 0
  std::uint8_t block;               // the pool of its memory
  std::atomic<parts_before> parts{parts_before::end};
  const flow_body* body;
  void* closure;
  flow_task* parent;
  flow_domain* inner = nullptr;  // of the tasks made in its body, while that runs
  flow_member* more = nullptr;
  memo_round* round;  // of tasks that come again and again (src/flow/flow_memo.hpp); or null

  [[nodiscard]] flow_member* members() noexcept { return reinterpret_cast<flow_member*>(this + 1); }
  template <class Visit>
  void each_member(Visit visit) {
    auto* const first = members();
    for (std::uint32_t i = 0; i < count; ++i) visit(first[i]);
    for (auto* each = more; each != nullptr; each = each->more)
      if (!each->is_link) visit(*each);
  }
};

// Combines the private copies of a task that runs in order. Throws what the operations throw.
inline void combine_all(flow_task& task) {
  for (std::size_t i = 0; task.body->reduction != nullptr; ++i) {
    reduction_part* const part = task.body->reduction(task, i);
    if (part == nullptr) break;
    part->combine(*part);
  }
}

}  // namespace teff::detail
