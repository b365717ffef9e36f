#include <teff/detail/attached_events/attached_events.hpp>

#include "platform/watchdog.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace teff::detail {

void attached_event::hold(held_end<>& held, bool watched) {
  held_ = &held;
  since_ = polled_source::poll_time::clock::now();
  if (watched) task_ = "task " + held.of->running_task_on(self.frame->state->index);
}

// ---- Events of one kind ----

// Throws std::bad_alloc; then the events stay.
void event_set::take_new() {
  for (;;) {
    if (untaken_ == nullptr) untaken_ = new_.take_all();
    if (untaken_ == nullptr) return;
    append(*untaken_);
    untaken_ = untaken_->next_;
  }
}

std::size_t event_set::test_all() noexcept {
  catch_all([this] { take_new(); }, [] {});
  completed_ = 0;
  test();
  return completed_;
}

void event_set::end(std::size_t part, std::exception_ptr why) noexcept {
  attached_event* const event = std::exchange(parts_[part], parts_.back());
  parts_.pop_back();
  if (event->error_ == nullptr) event->error_ = std::move(why);
  if (--event->left_ != 0) return;
  ++completed_;
  auto& held = *event->held_;
  auto error = std::move(event->error_);
  delete event;  // its destructor may use what belongs to the task
  if (error != nullptr) held.of->fail(std::move(error));
  task_source_base::release(held);
}

void event_set::describe(polled_source::poll_time since, std::vector<std::string>& to) const {
  const attached_event* last = nullptr;
  for (const auto* each : parts_) {
    if (each != last && each->since_ <= since) to.push_back(each->task_ + " waits for " + each->words());
    last = each;
  }
}

class tested_events final : public event_set {
 public:
  ~tested_events() override {
    catch_all([this] { take_new(); }, [] {});
    for (const auto* each : parts_) delete each;
  }

 private:
  void test() noexcept override {
    for (auto i = parts_.size(); i-- != 0;) {
      std::exception_ptr error;
      bool completed = true;
      catch_all([&] { completed = static_cast<tested_event*>(parts_[i])->test(); },
                [&] { error = std::current_exception(); });
      if (completed) end(i, std::move(error));
    }
  }
};

void attach_event(std::unique_ptr<tested_event> event, const char* call) {
  auto& held = hold_end_here(call);
  undo_if_thrown(
      [&] {
        auto& all = attached_events::of(held.of->runtime());
        event->hold(held, all.is_watched());
        auto& kind = all.set<tested_events>(attached_events::tested_alone);
        all.attach(kind, *event.release());
      },
      [&] { task_source_base::release(held); });
}

// ---- The source ----

attached_events& attached_events::of(scheduler& runtime) {
  auto& source_of_runtime = runtime.lasting_source();
  // Acquire: the source, from the store below.
  if (auto* const made = source_of_runtime.load(std::memory_order_acquire)) [[likely]]
    return static_cast<attached_events&>(*made);
  static std::mutex making;
  const std::lock_guard lock(making);
  if (auto* const made = source_of_runtime.load(std::memory_order_relaxed))
    return static_cast<attached_events&>(*made);
  auto made = std::make_shared<attached_events>(runtime);
  detail::attach(runtime, made);
  source_of_runtime.store(made.get(), std::memory_order_release);
  return *made;
}

attached_events::attached_events(scheduler& runtime)
    : runtime_(runtime), watch_(watchdog::interval()), reports_at_(poll_time::clock::now() + watch_) {}

attached_events::~attached_events() {
  for (const auto& each : sets_) delete each.load(std::memory_order_relaxed);
}

void attached_events::attach(event_set& kind, attached_event& event) noexcept {
  found_.store(poll_time::clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  // seq_cst: before published() looks for sleepers, against next_poll(). Before add(), so that the count
  // never lacks an event that is being tested.
  const bool first = count_.fetch_add(1, std::memory_order_seq_cst) == 0;
  kind.add(event);
  if (first) published(runtime_);
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

// Between tasks, tests take a sixteenth of the worker's time at most. If calls follow each other at once, no
// worker has run a task in between.
bool attached_events::run(unsigned /*worker*/) noexcept {
  constexpr auto at_once = poll_time::duration(std::chrono::nanoseconds(500)).count();
  if (count_.load(std::memory_order_relaxed) == 0) return false;
  const auto time = poll_time::clock::now();
  const auto now = time.time_since_epoch().count();
  const bool busy = now - called_.load(std::memory_order_relaxed) > at_once;
  called_.store(now, std::memory_order_relaxed);
  const auto between = (busy ? 16 : 1) * took_.load(std::memory_order_relaxed);
  return now >= looked_.load(std::memory_order_relaxed) + between && look(time);
}

bool attached_events::look(poll_time now) noexcept {
  // Acquire: the work of the thread that looked before; pairs with the release below.
  if (looking_.load(std::memory_order_relaxed) || looking_.exchange(true, std::memory_order_acquire))
    return false;
  std::size_t completed = 0;
  for (const auto& each : sets_) {
    if (auto* const events = each.load(std::memory_order_acquire))  // pairs with set()
      completed += events->test_all();
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
