// scope and spawn: any number of tasks that end before the scope does.
#pragma once

#include <teff/detail/scope_state.hpp>

#include <type_traits>
#include <utility>

namespace teff {

// Tasks spawned in a scope may run in parallel, on any worker; the scope ends only when all of them have.
//
//   {
//     teff::scope s;
//     for (auto& part : parts) s.spawn([&part] { work(part); });
//   }  // every part is done
//
// - A scope belongs to the task that made it, and scopes of one task end in reverse order of their making.
// - A spawn may run the task at once: always so outside a runtime's workers, and when enough tasks wait
//   already, so that a spawning loop of any length needs bounded memory.
// - The first exception that a task throws cancels the scope: tasks that have not begun are dropped. It
//   is thrown by wait(), or by the destructor unless that runs because of another exception.
// - spawn() may be called from any worker while the scope lives, so also by its own tasks.
class scope : detail::scope_state {
 public:
  scope() noexcept = default;
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  // As wait() does, if tasks were spawned since. Throws their first exception, unless the block is being left
  // by one already, in which case tasks that have not begun are dropped.
  ~scope() noexcept(false) {
    if (unfinished()) close();
  }

  // Runs `task()` some time before the scope ends; drops it if the scope is cancelled by then. Does not throw
  // what the task throws; may throw what copying or moving the task throws, and std::bad_alloc for one over
  // 40 bytes.
  template <class F>
    requires std::is_invocable_v<std::decay_t<F>&>
  void spawn(F&& task) {
    auto* const slot = detail::self.head();
    // In this order: `top_` is the owner's alone.
    if (detail::self.innermost != this || slot != top_) [[unlikely]]
      return spawn_slowly<std::decay_t<F>>(std::forward<F>(task));
    if (slot < window_end_) {
      put(slot, std::forward<F>(task));
      top_ = slot + 1;
      if (detail::self.asked()) [[unlikely]]
        detail::share();
    } else {
      if (detail::self.asked()) [[unlikely]]
        return spawn_slowly<std::decay_t<F>>(std::forward<F>(task));
      execute(task);
    }
  }

  // Waits for all tasks, running tasks meanwhile; then throws the first exception, if there was one. The
  // scope can be used again. Throws misuse if called by one of its own tasks on another worker or from within
  // a join, or while a scope made later by the same task still has tasks: it could never end.
  void wait() {
    if (!end_quickly()) [[unlikely]]
      end_and_throw();
  }

  // Drops the tasks that have not begun. Those that run can ask.
  void cancel() noexcept { flags_.fetch_or(cancelled_flag, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept {
    return (flags_.load(std::memory_order_relaxed) & cancelled_flag) != 0;
  }

 private:
  // Exceptions in flight when the scope began: more at its end mean that its block is left by one.
  const unsigned exceptions_ = detail::exceptions_in_flight();

  void close();
  void end_and_throw();
};

}  // namespace teff
