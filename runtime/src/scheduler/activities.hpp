// The activities that a worker is in the middle of (README, "Waiting within an activity").
#pragma once

#include <teff/detail/scheduler/frame.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/source.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace teff::detail {

class activities;

// The work that a waiting worker may run (README, "Waiting within an activity").
enum class may_run : std::uint8_t {
  nothing,     // of others: only what the wait names (waits::as_guest), or nothing at all
  its_tasks,   // what is awaited, and other tasks of the innermost activity, which is isolated
  own_work,    // what is awaited; of sources and jobs, what no other worker may do
  sources,     // besides, work of sources, and tasks that belong to activities
  everything,  // besides, jobs for any worker, and any tasks
};

// The outermost activities of a worker.
struct outer_activities {
  const activities* of = nullptr;
  std::size_t count = 0;
};

// Work that others may wait for without having spawned it: a source runs its tasks, a gang does its part.
// Tasks that are spawned within it belong to it, wherever they are stolen to. A worker that waits within an
// activity runs work of sources, of gangs and of activities, and nothing else: a job, or a task from
// elsewhere, could wait for this very activity, which could not go on below it.
struct enclosing_activity {
  const void* of = nullptr;  // what can't end before the activity does; null: nothing
  // A request, or a task of one: on top of it runs only what belongs to the innermost activity, and work that
  // this worker alone may be able to do. Anything else might wait for the request.
  bool exclusive = false;
  // The call of isolate() of which it is a part; null: none. A part is exclusive, too.
  const void* isolated_by = nullptr;
  // Of a task that was stolen from within it: all on whose stack it lies, itself the innermost. No such
  // activity can end before the task has.
  outer_activities victims{};

  [[nodiscard]] bool is_any() const noexcept { return of != nullptr || isolated_by != nullptr; }
};

// The activities of one worker, the outermost first. Written by the worker; thieves read which one a slot of
// the worker's belongs to.
class activities {
 public:
  // `head`: where the worker's next push goes.
  void begin(const enclosing_activity& what, const task_slot* head) noexcept {
    const auto at = depth_.load(std::memory_order_relaxed);
    if (at < most) {
      // Relaxed: a thief that stole a slot which was pushed after this sees it, as it sees the slot; to one
      // that stole an older slot it is all the same which of several later ones it sees.
      entries_[at].write(what);
      entries_[at].head.store(head, std::memory_order_relaxed);
    }
    depth_.store(at + 1, std::memory_order_release);  // pairs with the acquire in of_slot()
    exclusive_ += what.exclusive ? 1 : 0;
    isolated_ += what.isolated_by != nullptr ? 1 : 0;
  }
  // `what`: as it began.
  void end(const enclosing_activity& what) noexcept {
    depth_.store(depth_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    exclusive_ -= what.exclusive ? 1 : 0;
    isolated_ -= what.isolated_by != nullptr ? 1 : 0;
  }

  [[nodiscard]] bool any() const noexcept { return depth() != 0; }
  // How many there are. Asked by the worker itself.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_.load(std::memory_order_relaxed); }
  // Whether a call of isolate() is among them.
  [[nodiscard]] bool is_isolated() const noexcept { return isolated_ != 0; }
  // None if there are none. Asked by the worker itself.
  [[nodiscard]] enclosing_activity innermost() const noexcept {
    return any() ? entries_[kept_depth() - 1].read() : enclosing_activity{};
  }
  // Whether a task of this activity may run on top of these.
  [[nodiscard]] bool admit(const enclosing_activity& task) const noexcept {
    if (!any()) return true;
    if (exclusive_ == 0) return task.of != nullptr;
    const auto mine = innermost();
    return task.of == mine.of && task.isolated_by == mine.isolated_by;
  }
  // The worker's own, or those that can't end before a task has that another runs: they stay as they are.
  [[nodiscard]] outer_activities all() const noexcept { return {this, kept_depth()}; }
  // Calls visit(const enclosing_activity&) for so many of the outermost, without the first ones.
  template <class Visit>
  void each(std::size_t first, std::size_t end, Visit visit) const {
    for (std::size_t i = first; i < end; ++i) visit(entries_[i].read());
  }

  // For a thief that has just stolen this slot of the worker's: the activity to which it belongs. That one
  // does not end before the slot's task has; those that began later began at heads above the slot.
  [[nodiscard]] enclosing_activity of_slot(const task_slot* slot) const noexcept {
    enclosing_activity found;
    const auto depth = std::min(depth_.load(std::memory_order_acquire), most);
    for (std::size_t i = 0; i < depth; ++i) {
      const auto& each = entries_[i];
      if (each.head.load(std::memory_order_relaxed) > slot) break;
      found = each.read();
      found.victims = {this, i + 1};
    }
    return found;
  }

 private:
  struct entry {
    std::atomic<const void*> of{nullptr};
    std::atomic<const task_slot*> head{nullptr};
    std::atomic<bool> exclusive{false};
    std::atomic<const void*> isolated_by{nullptr};
    std::atomic<const activities*> victims_of{nullptr};
    std::atomic<std::size_t> victims_count{0};

    void write(const enclosing_activity& what) noexcept {
      of.store(what.of, std::memory_order_relaxed);
      exclusive.store(what.exclusive, std::memory_order_relaxed);
      isolated_by.store(what.isolated_by, std::memory_order_relaxed);
      victims_of.store(what.victims.of, std::memory_order_relaxed);
      victims_count.store(what.victims.count, std::memory_order_relaxed);
    }
    [[nodiscard]] enclosing_activity read() const noexcept {
      return {of.load(std::memory_order_relaxed),
              exclusive.load(std::memory_order_relaxed),
              isolated_by.load(std::memory_order_relaxed),
              {victims_of.load(std::memory_order_relaxed), victims_count.load(std::memory_order_relaxed)}};
    }
  };
  // Of those that are nested deeper, only the number is kept.
  static constexpr std::size_t most = 64;

  // Read by the worker itself.
  [[nodiscard]] std::size_t kept_depth() const noexcept { return std::min(depth(), most); }

  std::array<entry, most> entries_;
  std::atomic<std::size_t> depth_{0};
  // How many of them are exclusive, and isolated. The worker's own.
  std::size_t exclusive_ = 0;
  std::size_t isolated_ = 0;
};

// A frame that is an activity of the calling worker, whose activities these are, if it is any.
class within_activity : within {
 public:
  within_activity(activities& mine, const enclosing_activity& what) noexcept
      : within(what.of), mine_(mine), what_(what) {
    if (what_.is_any()) mine_.begin(what_, self.head());
  }
  ~within_activity() {
    if (what_.is_any()) mine_.end(what_);
  }

 private:
  activities& mine_;
  const enclosing_activity what_;
};

}  // namespace teff::detail
