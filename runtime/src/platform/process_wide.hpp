// Something that all runtimes of a process share, behind a lock, and that a child process begins anew.
#pragma once

#include <pthread.h>

#include <mutex>

namespace teff::detail {

// The one `T` of the process. The thread that forks holds the lock during fork(), so the child finds a sound
// state and a free lock. In the child fork() calls T::begin_child(), if there is such a function, before any
// other thread exists.
//
// It is made at its first use and lives as long as the process does, since a runtime may be a global.
template <class T>
class process_wide {
 public:
  // Calls use(T&) under the lock, and returns what that returns.
  template <class Use>
  static decltype(auto) with(Use use) {
    const std::lock_guard lock(mutex());
    return use(value());
  }

 private:
  static T& value() {
    static T& all = *new T;
    return all;
  }
  // The handlers are there before anybody holds the lock.
  static std::mutex& mutex() noexcept {
    static_cast<void>(registered);
    return lock_;
  }

  static void before_fork() noexcept {
    lock_.lock();
    static_cast<void>(value());  // another thread may be making it: the child would wait for that thread
  }
  static void after_fork() noexcept { lock_.unlock(); }
  static void begin_child() noexcept {
    if constexpr (requires(T& all) { all.begin_child(); }) value().begin_child();
    lock_.unlock();
  }

  static inline constinit std::mutex lock_;
  // Initialised when the program begins.
  static inline const int registered = ::pthread_atfork(&before_fork, &after_fork, &begin_child);
};

}  // namespace teff::detail
