// Events for which the ends of tasks wait (src/attached_events/README.md).
#pragma once

#include <teff/detail/platform/durations.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/task_source/task_source_base.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace teff::detail {

// The end of a task that waits for an event.
class waiting_end {
 public:
  // `held`: of the calling thread's task. `watched`: keeps the task in words. Throws std::bad_alloc.
  waiting_end(held_end<>& held, bool watched);

  // The event has completed. `why`: the event failed, and so does the task's source.
  void release(std::exception_ptr why = nullptr) const noexcept;
  [[nodiscard]] polled_source::poll_time since() const noexcept { return since_; }
  // The task, in words, if it is watched.
  [[nodiscard]] const std::string& task() const noexcept { return task_; }

 private:
  held_end<>* held_;
  polled_source::poll_time since_;
  std::string task_;
};

// Events of one kind, which a worker tests together, some at a time.
class event_set {
 public:
  struct tested {
    std::size_t completed = 0;
    bool all = true;  // each event was tested since this was true before
  };

  event_set() = default;
  event_set(const event_set&) = delete;
  event_set& operator=(const event_set&) = delete;
  virtual ~event_set() = default;

  // Tests some events, and releases the ends of those that have completed. One thread at a time calls it.
  [[nodiscard]] virtual tested test_some() noexcept = 0;
  // Adds a description of each event that is attached since this time. Not during test_some().
  virtual void describe(polled_source::poll_time since, std::vector<std::string>& to) const = 0;
};

// The source that tests the events of one runtime.
class attached_events final : public polled_source {
 public:
  // Of this runtime, made by the first call. Throws std::bad_alloc.
  [[nodiscard]] static attached_events& of(scheduler& runtime);
  explicit attached_events(scheduler& runtime);
  ~attached_events() override;

  enum kinds : std::uint8_t { tested_alone, requests };
  // The events of a kind, which is always a Set. Throws std::bad_alloc.
  template <class Set>
  [[nodiscard]] Set& set(kinds kind) {
    auto& made = sets_[kind];
    // Acquire: the set, from the store below.
    if (auto* const found = made.load(std::memory_order_acquire)) [[likely]]
      return static_cast<Set&>(*found);
    const std::lock_guard lock(adding_);
    if (made.load(std::memory_order_relaxed) == nullptr)
      made.store(std::make_unique<Set>().release(), std::memory_order_release);
    return static_cast<Set&>(*made.load(std::memory_order_relaxed));
  }
  // Calls add(), which adds an event to its kind.
  template <class Add>
  void attach(Add add) noexcept {
    found_.store(poll_time::clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    // seq_cst: before published() looks for sleepers, against next_poll(). Before add(), so that the count
    // never lacks an event that is being tested.
    const bool first = count_.fetch_add(1, std::memory_order_seq_cst) == 0;
    add();
    if (first) published(runtime_);
  }

  // Whether TEFF_WATCHDOG asks for reports.
  [[nodiscard]] bool is_watched() const noexcept { return watch_.count() != 0; }

  bool run(unsigned worker) noexcept override;
  bool sees_work(unsigned /*worker*/) noexcept override { return false; }  // next_poll() says when to look
  std::optional<poll_time> next_poll() noexcept override;
  void poll(unsigned worker) noexcept override;

 private:
  // Tests so many batches of each kind at most.
  [[nodiscard]] bool look(poll_time now, std::size_t most_batches) noexcept;
  void report(poll_time now) noexcept;

  scheduler& runtime_;
  std::mutex adding_;                              // of sets
  std::array<std::atomic<event_set*>, 2> sets_{};  // by kind; null: not made yet
  std::atomic<std::size_t> count_{0};              // of events
  // True while a worker tests events. Only that worker uses reports_at_. Workers read the times as guesses.
  std::atomic<bool> looking_{false};
  std::atomic<poll_time::rep> looked_{0};  // when the last look ended
  std::atomic<poll_time::rep> found_{0};   // when an event last completed, or was attached
  std::atomic<poll_time::rep> called_{0};  // when a worker last called run()
  std::atomic<poll_time::rep> took_{0};    // how long the last look took
  const std::chrono::seconds watch_;       // the interval of reports; 0: there are none
  poll_time reports_at_;
};

// An event that is tested alone.
class attached_event {
 public:
  attached_event() = default;
  attached_event(const attached_event&) = delete;
  attached_event& operator=(const attached_event&) = delete;
  virtual ~attached_event() = default;
  [[nodiscard]] virtual bool test() = 0;
  [[nodiscard]] virtual const char* name() const noexcept = 0;

 private:
  friend class tested_events;
  attached_event* next_ = nullptr;
  std::optional<waiting_end> end_;
};

// The end of the calling thread's task waits for the event. Throws as hold_end_here().
void attach_event(std::unique_ptr<attached_event> event, const char* call);

}  // namespace teff::detail
