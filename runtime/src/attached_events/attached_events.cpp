#include <teff/detail/attached_events/attached_events.hpp>
#include <teff/detail/ready/inbox.hpp>
#include <teff/detail/task_source/source_worker.hpp>
#include <teff/error.hpp>

#include "platform/watchdog.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace teff::detail {

// ---- An end ----

waiting_end::waiting_end(held_end<>& held, bool watched)
    : held_(&held), since_(polled_source::poll_time::clock::now()) {
  if (watched) task_ = "task " + held.of->running_task_on(self.frame->state->index);
}

void waiting_end::release(std::exception_ptr why) const noexcept {
  if (why != nullptr) held_->of->fail(std::move(why));
  task_source_base::release(*held_);
}

// ---- Events that are tested alone ----

class tested_events final : public event_set {
 public:
  ~tested_events() override {
    take_new();
    while (first_ != nullptr) delete std::exchange(first_, first_->next_);
  }

  void add(attached_event& event) noexcept { new_.push(event); }
  static void set_end(attached_event& event, held_end<>& held, bool watched) {
    event.end_.emplace(held, watched);
  }

  tested test_some() noexcept override {
    take_new();
    constexpr std::size_t at_a_time = 64;
    tested result;
    const auto some = std::min(untested_, at_a_time);
    for (std::size_t i = 0; i < some; ++i) {
      attached_event* const each = std::exchange(first_, first_->next_);
      std::exception_ptr error;
      bool completed = true;
      catch_all([&] { completed = each->test(); }, [&] { error = std::current_exception(); });
      if (!completed) {
        append(*each);
        continue;
      }
      --size_;
      ++result.completed;
      // Its destructor may use what belongs to the task.
      const waiting_end end = std::move(*each->end_);
      delete each;
      end.release(std::move(error));
    }
    untested_ -= some;
    result.all = untested_ == 0;
    if (result.all) untested_ = size_;
    return result;
  }

  void describe(polled_source::poll_time since, std::vector<std::string>& to) const override {
    for (const auto* each = first_; each != nullptr; each = each->next_)
      if (each->end_->since() <= since)
        to.push_back(each->end_->task() + " waits for the event " + name_in_words(each->name()));
  }

 private:
  void take_new() noexcept {
    for (auto* each = new_.take_all(); each != nullptr;) {
      append(*std::exchange(each, each->next_));
      ++size_;
      ++untested_;
    }
  }
  void append(attached_event& event) noexcept {
    event.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &event;
    last_ = &event;
  }

  inbox<attached_event, &attached_event::next_> new_;
  // A queue: the event that was tested longest ago comes first.
  attached_event* first_ = nullptr;
  attached_event* last_ = nullptr;
  std::size_t size_ = 0;
  std::size_t untested_ = 0;  // at the front, in this pass
};

void attach_event(std::unique_ptr<attached_event> event, const char* call) {
  auto& held = hold_end_here(call);
  undo_if_thrown(
      [&] {
        auto& all = attached_events::of(held.of->runtime());
        tested_events::set_end(*event, held, all.is_watched());
        auto& kind = all.set<tested_events>(attached_events::tested_alone);
        all.attach([&] { kind.add(*event.release()); });
      },
      [&] { task_source_base::release(held); });
}

// ---- The source ----

attached_events& attached_events::of(scheduler& runtime) {
  auto& place = runtime.lasting_source();
  // Acquire: the source, from the store below.
  if (auto* const made = place.load(std::memory_order_acquire)) [[likely]]
    return static_cast<attached_events&>(*made);
  static std::mutex making;
  const std::lock_guard lock(making);
  if (auto* const made = place.load(std::memory_order_relaxed)) return static_cast<attached_events&>(*made);
  auto made = std::make_shared<attached_events>(runtime);
  detail::attach(runtime, made);
  place.store(made.get(), std::memory_order_release);
  return *made;
}

attached_events::attached_events(scheduler& runtime)
    : runtime_(runtime), watch_(watchdog::interval()), reports_at_(poll_time::clock::now() + watch_) {}

attached_events::~attached_events() {
  for (const auto& each : sets_) delete each.load(std::memory_order_relaxed);
}

// A worker tests the more rarely, the longer nothing has completed: a runtime that waits uses next to
// nothing, and the wait for an event grows by a sixteenth at most.
std::optional<polled_source::poll_time> attached_events::next_poll() noexcept {
  // seq_cst: after the worker has said that it sleeps, against attach().
  if (count_.load(std::memory_order_seq_cst) == 0) return std::nullopt;
  constexpr poll_time::duration shortest = std::chrono::microseconds(1);
  constexpr poll_time::duration longest = std::chrono::milliseconds(16);
  // Relaxed: guesses.
  const poll_time::duration looked{looked_.load(std::memory_order_relaxed)};
  const poll_time::duration found{found_.load(std::memory_order_relaxed)};
  const poll_time::duration took{took_.load(std::memory_order_relaxed)};
  return poll_time(looked + std::clamp((looked - found) / 16, shortest, std::max(longest, 16 * took)));
}

void attached_events::poll(unsigned /*worker*/) noexcept {
  // As many as there are events now: each batch has so many at least, or all. Events that come meanwhile keep
  // the worker no longer.
  constexpr std::size_t least_a_batch = 64;
  const auto batches = 1 + count_.load(std::memory_order_relaxed) / least_a_batch;
  static_cast<void>(look(poll_time::clock::now(), batches));
}

// Between tasks, tests take a sixteenth of the worker's time at most. If calls follow each other at once, no
// worker has run a task in between.
bool attached_events::run(unsigned /*worker*/) noexcept {
  constexpr std::size_t most_batches = 16;
  constexpr auto at_once = poll_time::duration(std::chrono::nanoseconds(500)).count();
  if (count_.load(std::memory_order_relaxed) == 0) return false;
  const auto time = poll_time::clock::now();
  const auto now = time.time_since_epoch().count();
  const bool busy = now - called_.load(std::memory_order_relaxed) > at_once;
  called_.store(now, std::memory_order_relaxed);
  const auto between = (busy ? 16 : 1) * took_.load(std::memory_order_relaxed);
  return now >= looked_.load(std::memory_order_relaxed) + between && look(time, most_batches);
}

bool attached_events::look(poll_time now, std::size_t most_batches) noexcept {
  // Acquire: the work of the thread that looked before; pairs with the release below.
  if (looking_.load(std::memory_order_relaxed) || looking_.exchange(true, std::memory_order_acquire))
    return false;
  std::size_t completed = 0;
  for (const auto& each : sets_) {
    auto* const events = each.load(std::memory_order_acquire);  // pairs with set()
    event_set::tested last{0, events == nullptr};
    for (std::size_t batches = 0; !last.all && batches < most_batches; ++batches) {
      last = events->test_some();
      completed += last.completed;
    }
  }
  if (is_watched() && now >= reports_at_) report(now);
  const auto ended = poll_time::clock::now();
  took_.store((ended - now).count(), std::memory_order_relaxed);
  looked_.store(ended.time_since_epoch().count(), std::memory_order_relaxed);
  if (completed != 0) {
    found_.store(ended.time_since_epoch().count(), std::memory_order_relaxed);
    count_.fetch_sub(completed, std::memory_order_relaxed);
  }
  looking_.store(false, std::memory_order_release);
  return completed != 0;
}

// Names the events that have been attached for an interval.
void attached_events::report(poll_time now) noexcept {
  reports_at_ = now + watch_;
  constexpr std::size_t most = 4;
  try {
    std::vector<std::string> late;
    for (const auto& each : sets_)
      if (const auto* const events = each.load(std::memory_order_acquire))
        events->describe(now - watch_, late);
    if (late.empty()) return;
    std::string text;
    for (std::size_t i = 0; i < std::min(late.size(), most); ++i) text += (i == 0 ? "" : "; ") + late[i];
    if (late.size() > most) text += "; and " + std::to_string(late.size() - most) + " more";
    std::fprintf(stderr, "teff: %s (for more than %lld s)\n", text.c_str(),
                 static_cast<long long>(watch_.count()));
  } catch (const std::bad_alloc&) {
    // The next report may have the memory.
  }
}

}  // namespace teff::detail
