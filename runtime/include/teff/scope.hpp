// scope and spawn: any number of tasks that end before the scope does.
#pragma once

#include <teff/detail/fork_join/scope_state.hpp>

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
// - A scope belongs to the task that made it. Scopes and forks of one task end in reverse order of their
//   making, and are waited for in that order.
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
  ~scope() noexcept(false) { close(exceptions_); }

  // Runs `task()` some time before the scope ends; drops it if the scope is cancelled by then. Does not throw
  // what the task throws; may throw what copying or moving the task throws, and std::bad_alloc for one over
  // 40 bytes.
  template <class F>
    requires std::is_invocable_v<std::decay_t<F>&>
  void spawn(F&& task) {
    scope_state::spawn(std::forward<F>(task));
  }

  // Waits for all tasks, running tasks meanwhile; then throws the first exception, if there was one. The
  // scope can be used again. Throws misuse if called by one of its own tasks on another worker or from within
  // a join, where it could never end, or while a scope or fork that the same task made later lives.
  void wait() { scope_state::wait(); }

  // Drops the tasks that have not begun. Those that run can ask.
  void cancel() noexcept { scope_state::cancel(); }
  [[nodiscard]] bool cancelled() const noexcept { return scope_state::cancelled(); }

 private:
  // Exceptions in flight when the scope began: more at its end mean that its block is left by one.
  const unsigned exceptions_ = detail::exceptions_in_flight();
};

}  // namespace teff
