// task_coroutine: the body of a flow's task that waits for events in its middle.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/future/continuations.hpp>
#include <teff/detail/private_access.hpp>
#include <teff/detail/scheduler/frame.hpp>
#include <teff/detail/task_source/task_source_base.hpp>
#include <teff/error.hpp>

#include <coroutine>
#include <exception>
#include <utility>

namespace teff {

class task_coroutine;
template <class T>
class future;

namespace detail {

template <class Body, class Copies>
struct flow_closure;

struct awaited_events {};

// The promise of a coroutine that is a task's body.
class task_promise {
 public:
  [[nodiscard]] task_coroutine get_return_object() noexcept;
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() { std::rethrow_exception(std::current_exception()); }
  [[nodiscard]] auto await_transform(awaited_events /*all*/) noexcept {
    struct until_completed {
      const task_promise& of;
      [[nodiscard]] bool await_ready() const noexcept { return !of.has_events(); }
      void await_suspend(std::coroutine_handle<> /*it*/) const noexcept {}
      void await_resume() const noexcept {}
    };
    return until_completed{*this};
  }
  template <class T>
  [[nodiscard]] auto await_transform(future<T>& awaited) {
    return await_transform(std::move(awaited));
  }
  template <class T>
  [[nodiscard]] auto await_transform(future<T>&& awaited) {
    struct until_there : continuation {
      future<T> of;
      held_end<>* held = nullptr;
      [[nodiscard]] bool await_ready() const { return of.ready(); }
      // The thread that brings the outcome releases the end of the task.
      [[nodiscard]] bool await_suspend(std::coroutine_handle<> /*it*/) {
        held = &hold_end_here("teff::task_coroutine: co_await of a future");
        this->run = [](continuation& there) noexcept {
          task_source_base::release(*static_cast<until_there&>(there).held);
        };
        if (private_access::internals(of)->when_ended(*this)) return true;
        task_source_base::release(*held);  // it came meanwhile
        return false;
      }
      T await_resume() { return of.get(); }
    };
    return until_there{{nullptr}, std::move(awaited)};
  }

  const runnable* task = nullptr;  // null: the coroutine has not begun

 private:
  // Out of line: the coroutine may have changed its thread since it last asked.
  [[nodiscard, gnu::noinline]] bool has_events() const noexcept {
    const auto* const state = self.frame->state;
    const auto* const running = state == nullptr ? nullptr : state->running;
    return running != nullptr && running->task == task && running->held != nullptr &&
           running->held->has_handles();
  }
};

}  // namespace detail

// The type that a body of flow::task() returns if the body is a coroutine. The task ends when the coroutine
// has.
//
//   f.task(teff::inout(halo), teff::inout(block), [&]() -> teff::task_coroutine {
//     co_await teff::mpi::recv(halo, left);
//     relax(block, halo);
//     co_await teff::mpi::send(block, right);
//   });
//
// - The coroutine may await a future, completed(), and the operations of teff::mpi. Its worker runs other
//   tasks meanwhile. The coroutine goes on as a task of its flow, with the place and the priority of its
//   task.
// - The body lives until its task has ended, and so do its captures.
// - If the flow fails or is cancelled meanwhile, the coroutine does not go on. When its events have
//   completed, the flow destroys the coroutine's variables.
// - Only flow::task() runs it. If another function calls such a body, the program ends with misuse.
class task_coroutine {
 public:
  using promise_type = detail::task_promise;

  task_coroutine() = default;
  task_coroutine(task_coroutine&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task_coroutine& operator=(task_coroutine&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task_coroutine() {
    if (!frame_) return;
    if (frame_.promise().task == nullptr) [[unlikely]]
      detail::end_program(
          misuse("teff::task_coroutine: a function other than teff::flow::task() called a body that is a "
                 "coroutine, and cannot run it: make it a task by flow::task()"));
    frame_.destroy();
  }

 private:
  friend promise_type;
  template <class Body, class Copies>
  friend struct detail::flow_closure;

  explicit task_coroutine(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  [[nodiscard]] bool has_begun() const noexcept { return frame_ != nullptr; }
  [[nodiscard]] bool has_ended() const noexcept { return frame_.done(); }
  // Runs it in the body of this task, until it awaits events or ends. Throws what it throws.
  void run(const detail::runnable& task) {
    frame_.promise().task = &task;
    frame_.resume();
  }

  std::coroutine_handle<promise_type> frame_;
};

inline task_coroutine detail::task_promise::get_return_object() noexcept {
  return task_coroutine(std::coroutine_handle<task_promise>::from_promise(*this));
}

// A coroutine that is a task's body awaits this. It goes on when all events that the task has attached have
// completed, and all handles of hold_end() are released. If there are none, it goes on at once.
//
//   f.task(teff::out(answer), [&]() -> teff::task_coroutine {
//     teff::attach([&] { return can_read(socket); });
//     co_await teff::completed();
//     read(socket, answer);
//   });
[[nodiscard]] inline detail::awaited_events completed() noexcept {
  return {};
}

}  // namespace teff
