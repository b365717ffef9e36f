// Events for which the ends of tasks wait (src/attached_events/README.md).
#pragma once

#include <teff/detail/platform/durations.hpp>
#include <teff/detail/ready/inbox.hpp>
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

// An event for which the end of a task waits. It may complete in several parts.
class attached_event {
 public:
  attached_event() = default;
  attached_event(const attached_event&) = delete;
  attached_event& operator=(const attached_event&) = delete;
  virtual ~attached_event() = default;
  // As "the event 'reply'".
  [[nodiscard]] virtual std::string words() const = 0;

  // `held`: of the calling thread's task. `watched`: keeps the task in words. Throws std::bad_alloc.
  void hold(held_end<>& held, bool watched);

 protected:
  std::size_t left_ = 1;  // parts that have not completed

 private:
  friend class event_set;
  held_end<>* held_ = nullptr;
  polled_source::poll_time since_;
  std::string task_;          // in words, if it is watched
  std::exception_ptr error_;  // of a part that has failed
  attached_event* next_ = nullptr;
};

// Events of one kind, which a worker tests together. One thread at a time calls anything but add().
class event_set {
 public:
  virtual ~event_set() = default;

  void add(attached_event& event) noexcept { new_.push(event); }
  // Tests all parts, and releases the ends that waited for the last of them. Returns how many events have
  // completed.
  [[nodiscard]] std::size_t test_all() noexcept;
  // Adds a description of each event that is attached since this time.
  void describe(polled_source::poll_time since, std::vector<std::string>& to) const;

 protected:
  // Tests each of parts_, the last one first, and calls end() for those that have completed.
  virtual void test() noexcept = 0;
  // Adds the parts of an event. Throws std::bad_alloc, and has added none then.
  virtual void append(attached_event& event) { parts_.push_back(&event); }
  // A part has completed; `why`: it has failed, and so does the task's source. The last part takes its place.
  void end(std::size_t part, std::exception_ptr why) noexcept;
  void take_new();

  std::vector<attached_event*> parts_;

 private:
  inbox<attached_event, &attached_event::next_> new_;
  attached_event* untaken_ = nullptr;  // for lack of memory
  std::size_t completed_ = 0;          // in this call
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
  void attach(event_set& kind, attached_event& event) noexcept;

  // Whether TEFF_WATCHDOG asks for reports.
  [[nodiscard]] bool is_watched() const noexcept { return watch_.count() != 0; }

  bool run(unsigned worker) noexcept override;
  bool sees_work(unsigned /*worker*/) noexcept override { return false; }  // next_poll() says when to look
  std::optional<poll_time> next_poll() noexcept override;
  bool poll(unsigned /*worker*/) noexcept override { return look(poll_time::clock::now()); }

 private:
  // Tests all events, unless another worker does. Returns whether one has completed.
  bool look(poll_time now) noexcept;
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
class tested_event : public attached_event {
 public:
  [[nodiscard]] virtual bool test() = 0;
};

// The end of the calling thread's task waits for the event. Throws as hold_end_here().
void attach_event(std::unique_ptr<tested_event> event, const char* call);

}  // namespace teff::detail
