// attach: the end of a task waits for an event that is not the return of its body.
#pragma once

#include <teff/detail/attached_events/attached_events.hpp>
#include <teff/detail/exceptions.hpp>
#include <teff/detail/scheduler/task_name.hpp>
#include <teff/detail/task_source/task_source_base.hpp>
#include <teff/error.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace teff {

// Holds the end of a task whose body may return before: until it is released, the task has not ended, and the
// graph or flow is not at rest. So another event than the return of the body can end a task: the answer of a
// server, the last of some parts. hold_end() makes it, in the body; any thread may release it.
//
//   g.body([&](int k) {
//     // The server's thread calls the lambda later.
//     server.ask(k, [&, k, held = teff::hold_end()](answer a) mutable {
//       keep(k, a);
//       g.fulfill(k + 1);                                            // while the end of k is held
//       held.release();
//     });
//   });
//
// - The task ends when its body has returned and all of its handles are released. All that their threads did
//   before is then done: wait() does not return earlier.
// - In a graph, a thread that releases a handle may fulfil keys before, as the body may. After the last
//   release the graph or flow may be gone. Until the task has ended, another fulfilment of its key is one too
//   many.
// - A failure releases no handle: wait() and the destructor of the graph or flow wait for all of them. If the
//   program keeps a handle and never releases it, they sleep for ever. A graph reports nothing then. A flow
//   names the task, and the tasks that wait for it, if TEFF_WATCHDOG is set.
// - The graph or flow outlives its handles.
class held_task {
 public:
  held_task() = default;
  held_task(held_task&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  held_task& operator=(held_task&& other) noexcept {
    if (this != &other) {
      let_go();
      held_ = std::exchange(other.held_, nullptr);
    }
    return *this;
  }
  // Releases it, if it holds a task.
  ~held_task() { let_go(); }

  // Throws misuse if it holds no task.
  void release() {
    expect_held("teff::held_task::release");
    let_go();
  }
  // The graph or flow fails, as if the task's body had thrown `why`; then releases it. If `why` is null, the
  // graph or flow drops what has not begun, and wait() throws nothing. Throws misuse if it holds no task.
  void fail(std::exception_ptr why) {
    expect_held("teff::held_task::fail");
    held_->of->fail(std::move(why));
    let_go();
  }
  // Whether it holds a task.
  [[nodiscard]] explicit operator bool() const noexcept { return held_ != nullptr; }

  // For parts of libteff.
  explicit held_task(detail::held_end<>& held) noexcept : held_(&held) {}

 private:
  void let_go() noexcept {
    if (held_ != nullptr) detail::task_source_base::release(*std::exchange(held_, nullptr));
  }
  void expect_held(const char* call) const {
    if (held_ == nullptr) [[unlikely]]
      detail::throw_error(misuse(std::string(call) +
                                 ": this handle holds no task: it was released or moved from before; release "
                                 "each handle once"));
  }

  detail::held_end<>* held_ = nullptr;
};

// The body of a task of a flow or task graph calls it, on its own thread. Holds the end of the task until
// the handle is released. Throws misuse anywhere else. A task of a recorded graph, of a replay and of a
// checked flow ends with its body, so the call throws misuse there, too. Throws not_replayable while a flow
// is recorded, and std::bad_alloc.
[[nodiscard]] inline held_task hold_end() {
  return held_task(detail::hold_end_here("teff::hold_end"));
}

namespace detail {

template <class Event>
concept tested_by_call = requires(Event& event) {
  { event() } -> std::convertible_to<bool>;
};
template <class Event>
concept tested_by_member = requires(Event& event) {
  { event.test() } -> std::convertible_to<bool>;
};

template <class Event>
class event_of_type final : public tested_event {
 public:
  explicit event_of_type(Event event) : event_(std::move(event)) {}
  bool test() override {
    if constexpr (tested_by_call<Event>) {
      return event_();
    } else {
      return event_.test();
    }
  }
  [[nodiscard]] std::string words() const override { return "the event " + name_in_words(name_of<Event>()); }

 private:
  Event event_;
};

}  // namespace detail

// The body of a task of a flow or task graph calls it, on its own thread. The task ends when the event has
// completed, and not before. The body goes on, and its worker is free when it returns. `event()` or
// `event.test()` says whether the event has completed: a file can be read, a time has come, a GPU has ended a
// kernel.
//
//   f.task(teff::out(reply), [&, fd] {
//     ask(fd);
//     teff::attach([&, fd] { return try_read(fd, reply); });
//   });
//
// - A worker tests the event between tasks or before it sleeps, again and again, until it returns true. One
//   thread at a time tests events, so a test must be short, must not wait, and must not call the library.
//   The longer no event completes, the more rarely they are tested: the wait grows by a sixteenth, 16 ms at
//   most. If there are many thousands, it may be more.
// - If a test throws, the event has completed, and the task's graph or flow fails, as if the body had thrown.
// - A body may attach several events. They are destroyed before the task ends. A failure, of the body too,
//   drops no event: wait() waits for all of them.
// - With TEFF_WATCHDOG=30, a worker names on stderr, every 30 s, tasks and the events that they have waited
//   for so long. named() gives an event a name.
//
// Throws as hold_end(), and what moving the event throws.
template <class Event>
  requires(detail::tested_by_call<std::decay_t<Event>> || detail::tested_by_member<std::decay_t<Event>>)
void attach(Event&& event) {
  detail::attach_event(
      std::make_unique<detail::event_of_type<std::decay_t<Event>>>(std::forward<Event>(event)),
      "teff::attach");
}

}  // namespace teff
