// The data that a flow keeps of a task (src/flow/README.md).
#pragma once

#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/access_group.hpp>
#include <teff/detail/ready/ready_queues.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teff::detail {

class flow_domain;
struct flow_loop;
struct flow_member;
struct flow_task;

// The kinds of waiter for the end of a group of accesses.
enum class waiter_kind : std::uint8_t {
  access,  // a task that may not begin before
  group,   // a later group of the same kind, which ends no earlier
  gate,    // the inner tasks of a task with a weak access
  inner,   // the end of a weak access
  turns,   // the first turn of a reduction
};
struct flow_waiter {
  flow_waiter* next;
  flow_member* member;
  waiter_kind kind;
};

// A weak access: inner tasks wait for `gate`, which the group before opens.
struct weak_part {
  weak_part(std::uintptr_t from, std::uintptr_t to) noexcept : begin(from), end_of_range(to) {}
  const std::uintptr_t begin;
  const std::uintptr_t end_of_range;
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
struct flow_member : flow_waiter {
  access_mode mode;
  bool leads = false;    // a group lies here
  bool is_link = false;  // no access: it only waits
  flow_task* task;
  flow_member* leader = nullptr;             // of its group
  flow_member* more = nullptr;               // of the task, beyond those that lie in it
  reduction_part* turn = nullptr;            // of a reduction
  weak_part* weak = nullptr;                 // of a weak access
  handed_lock<flow_waiter>* lock = nullptr;  // the group's, of a commutative one; the leader owns it
  // The group.
  release_list<flow_waiter> waiting;
  open_count<> members;  // that have not ended; unused in the group of a writer, which is alone
};

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

struct flow_task : ready_node {
  std::uint32_t count;   // of members that lie in it
  std::uint32_t room;    // for so many
  open_count<> missing;  // groups that it waits for
  open_count<> unended;  // parts that its end waits for: inner tasks, reductions, weak accesses
  // They keep its memory: the task until it has ended, and its groups until they have ended and its domain's
  // table has forgotten them.
  std::atomic<std::uint32_t> references;
  std::uint32_t awaited = 0;  // how much `unended` will count
  unsigned place;
  std::uint32_t block;              // bytes of its memory
  const void* last_lock = nullptr;  // of its commutative accesses: it holds the locks up to this address
  bool counted = false;             // as one whose body has run
  bool has_locks = false;
  bool has_more = false;  // members beyond those that lie in it, locks, weak accesses or reductions
  bool is_kept = false;   // by a recording
  const flow_body* body;
  void* closure;
  flow_task* parent;
  flow_domain* inner = nullptr;  // of the tasks made in its body, while that runs
  flow_member* more = nullptr;

  [[nodiscard]] flow_member* members() noexcept { return reinterpret_cast<flow_member*>(this + 1); }
  template <class Visit>
  void each_member(Visit visit) {
    auto* const first = members();
    for (std::uint32_t i = 0; i < count; ++i) visit(first[i]);
    for (auto* each = more; each != nullptr; each = each->more)
      if (!each->is_link) visit(*each);
  }
};

}  // namespace teff::detail
