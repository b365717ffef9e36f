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
// - spawn() runs the task at once when 256 tasks of the scope wait already, so that a loop that spawns needs
//   bounded memory.
// - On a thread that is no worker, the workers of default_runtime() run the tasks. Each such spawn()
//   allocates and takes some microseconds: for many small tasks, put the scope into run() (runtime.hpp).
// - The first exception that a task throws cancels the scope: tasks that have not begun are dropped. Then
//   wait() throws the exception; else the destructor does, unless that runs because of another exception.
// - Any worker may call spawn() while the scope lives; so its own tasks may, too.
class scope : detail::scope_state {
 public:
  scope() noexcept = default;
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  // Waits as wait() does, if tasks were spawned since, and throws their first exception. But if an exception
  // is leaving the block already, it drops the tasks that have not begun, and throws nothing.
  ~scope() noexcept(false) { close(exceptions_); }

  // Runs `task()` some time before the scope ends; drops it if the scope is cancelled by then. Does not throw
  // what the task throws. It may throw what copying or moving the task throws, std::bad_alloc for a task over
  // 40 bytes, and outside the workers what default_runtime() throws.
  template <class F>
    requires std::is_invocable_v<std::decay_t<F>&>
  void spawn(F&& task) {
    scope_state::spawn(std::forward<F>(task));
  }

  // Waits for all tasks, running tasks meanwhile; then throws the first exception, if there was one. The
  // scope can be used again. Throws misuse where it could never end: in a task of the scope on another
  // worker, or within a join. Throws misuse while a scope or fork lives that the same task made later.
  void wait() { scope_state::wait(); }

  // Drops the tasks that have not begun. Tasks that run can ask cancelled(). It holds from cancel() or the
  // first exception until wait() has ended all tasks: then the scope can be used again, whether wait()
  // returns or throws.
  void cancel() noexcept { scope_state::cancel(); }
  [[nodiscard]] bool cancelled() const noexcept { return scope_state::cancelled(); }

 private:
  // Exceptions in flight when the scope began. If there are more at its end, one of them is leaving the
  // block.
  const unsigned exceptions_ = detail::exceptions_in_flight();
};

}  // namespace teff
