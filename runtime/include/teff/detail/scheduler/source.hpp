// A source: a way in that keeps its ready work itself. Here is what workers ask of it, and what it tells
// them.
//
// This is an internal interface beside job.hpp, for many small tasks (src/scheduler/README.md, "Sources").
#pragma once

#include <teff/detail/platform/doorbell.hpp>
#include <teff/detail/platform/durations.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace teff::detail {

class polled_source;
class scheduler;

class source {
 public:
  virtual ~source() = default;

  // Called by worker `worker` when it is free. Does some of the work that this worker may do, and returns
  // whether there was any. The work may call it again.
  virtual bool run(unsigned worker) noexcept = 0;

  // Whether run() would find something. The worker's last look before it sleeps, among others.
  virtual bool sees_work(unsigned worker) noexcept = 0;

  // run() and sees_work() for the work that no other worker may do. Only these are called by a worker that
  // waits for another source, and is in the middle of many activities: so its stack stays short.
  virtual bool run_own(unsigned worker) noexcept { return run(worker); }
  virtual bool sees_own_work(unsigned worker) noexcept { return sees_work(worker); }

  // A worker that ran this source while it waited for something else goes on with its own work now. Other
  // threads get the tasks and the news that the worker would have seen to at its next run().
  virtual void step_back(unsigned worker) noexcept { static_cast<void>(worker); }

  // Itself, if it is to be polled; null, as for most sources: a thread that brings it work says so.
  virtual polled_source* polled() noexcept { return nullptr; }

  // This is a child process of fork(), which what run() runs on the calling thread has called: no more of
  // the work is wanted. Takes no lock, which a thread of the parent may hold.
  virtual void begin_child() noexcept {}

 protected:
  // Somebody waits in detach() until no worker is in this source: a run() that finds nothing is to return.
  [[nodiscard]] bool is_being_detached() const noexcept {
    return being_detached_.load(std::memory_order_relaxed);  // only for speed
  }

 private:
  friend class sources;
  std::atomic<bool> being_detached_{false};
  std::size_t slot_ = 0;  // while it is attached
};

// A source to which work comes that no thread publishes: by a clock, a network, another process.
class polled_source : public source {
 public:
  polled_source* polled() noexcept final { return this; }

  // When poll() is to be called at the latest if nobody publishes anything before; nothing: never. Asked by a
  // worker that looks for work in vain. A thread that makes the time earlier does so under a lock or by a
  // seq_cst operation, then calls published().
  using poll_time = std::chrono::steady_clock::time_point;
  virtual std::optional<poll_time> next_poll() noexcept = 0;

  // The time has come: looks for work that no thread publishes (a clock, a network). Returns soon, whether it
  // found any. sees_work() sees that work from then on. Called by a worker that looks for work, by
  // several at once if they do; if all sleep, one of them wakes for it. While all workers are busy it is not
  // called: run(), which is called between tasks, may look as well.
  virtual bool poll(unsigned worker) noexcept = 0;

  // For what another process brings: a worker is about to call sees_work() a last time, and then to sleep.
  // If the source says next_poll(), one of the sleepers sleeps on this doorbell as well. A source that is
  // attached later says an earlier time, so that another one sleeps, on its bell too. `sleeper` is a number
  // of the worker's own, 2 at least.
  virtual std::optional<doorbell> listen(std::uint32_t sleeper) noexcept {
    static_cast<void>(sleeper);
    return std::nullopt;
  }
  // That worker is awake, and need not be woken by the bell any more.
  virtual void rise(std::uint32_t sleeper) noexcept { static_cast<void>(sleeper); }
};

// From now on the workers look at the source. Throws std::bad_alloc.
void attach(scheduler&, std::shared_ptr<source>);
// When this returns no worker uses the source, and none will. To be called when nothing goes on that its
// functions have begun.
void detach(scheduler&, const source&) noexcept;

// The caller has stored work that any worker may do, by a release store or a stronger operation; a thread
// that is no worker of the runtime, by a seq_cst operation. Wakes a sleeper, unless another worker searches.
void published(scheduler&) noexcept;
// The caller has stored, as for published(), something that only worker `index` can do. Wakes that worker.
void published_to(scheduler&, unsigned index) noexcept;

// On a worker: runs some work of this source, as the worker does when it is free. Returns whether it is to be
// called again: not if there was no work, nor if the source has made way for a request, which a wait
// begins.
bool run_here(source&) noexcept;

// Throws forked_process in a child process of the one that made the runtime.
void expect_own_process(const scheduler&);

// If this is a child process of the one that made the runtime, says so on stderr and ends the process: a task
// that has called fork() has returned here, and the thread that waits for it is not there.
[[gnu::cold]] void end_if_child(const scheduler&) noexcept;

// Between begin_call() and end_call(), which any thread may call, the runtime does not shut down. Throws
// runtime_was_shut_down, forked_process.
void begin_call(scheduler&);
void end_call(scheduler&) noexcept;

// While it lives, the runtime does not shut down. Throws runtime_was_shut_down.
class call_in_progress {
 public:
  explicit call_in_progress(scheduler& runtime) : runtime_(runtime) { begin_call(runtime); }
  ~call_in_progress() { end_call(runtime_); }
  call_in_progress(const call_in_progress&) = delete;
  call_in_progress& operator=(const call_in_progress&) = delete;

 private:
  scheduler& runtime_;
};

// Whether a runtime has not been destroyed, for what may outlive it against its contract. Relaxed: a runtime
// that another thread is destroying just now can't be used safely anyway.
using runtime_life = std::shared_ptr<const std::atomic<bool>>;
[[nodiscard]] runtime_life life_of(const scheduler&) noexcept;

}  // namespace teff::detail
