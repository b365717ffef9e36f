// A thread's frames say what it is in the middle of. They are linked through its stack.
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/source.hpp>

#include <utility>

namespace teff::detail {

// While it lives, the thread that made it is in the middle of this, on top of the frame `outer`. A frame with
// no fields set is that of work that belongs to nothing below it on the stack.
class within : public frame {
 public:
  // `name`: by which others may wait for it; null: none.
  explicit within(const void* name = nullptr) noexcept : within(name, nullptr, nullptr) {}
  // Tasks of a source, by the worker with this state.
  within(const source& whose, source_worker* at) noexcept : within(&whose, at, nullptr) {}
  // A body of the source, for its release_observer<Name>.
  within(const source& whose, void* told) noexcept : within(&whose, nullptr, told) {}
  // A part of the work of this frame, the thread's innermost one.
  explicit within(const frame& same) noexcept : within(same.of, same.state, same.observer) {}
  ~within() {
    self.frame = outer;
    self.innermost = scope_;
  }
  within(const within&) = delete;
  within& operator=(const within&) = delete;

 private:
  within(const void* name, source_worker* at, void* told) noexcept
      : frame{name, at, told, std::exchange(self.frame, this)},
        scope_(std::exchange(self.innermost, nullptr)) {}

  // Work in this frame spawns into no scope of the frames below.
  scope_state* const scope_;
};

// A call of isolate(). While it lives, the calling worker runs only tasks that were spawned since, if it
// waits for its tasks.
class isolated : within {
 public:
  isolated() noexcept;
  ~isolated();
};

}  // namespace teff::detail
