#include <teff/detail/flow/flow_loop.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>

#include "flow/accesses.hpp"
#include "flow/flow_core.hpp"
#include "flow/flow_memo.hpp"
#include "flow/flow_watch.hpp"
#include "platform/watchdog.hpp"
#include "scheduler/blocked_activities.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace teff::detail {

constinit thread_local const flow_core* flow_core::replayed = nullptr;

flow_core::flow_core(scheduler& runtime, unsigned workers)
    : base(runtime, workers, "teff::flow"),
      states_(workers,
              [this, workers](flow_worker* at, std::size_t i) {
                std::construct_at(at, static_cast<unsigned>(i), workers == 1, blocks_);
              }),
      outside_pool_(blocks_),
      watch_(watchdog::is_on() ? std::make_unique<flow_watch>() : nullptr),
      wait_for_tasks_(runtime) {}

flow_core::~flow_core() {
  const flow_creator by{nullptr, nullptr, outside_pool_, outside_counts_};
  domain_.each([&](flow_range& each) { forget(each, by); });
}

void flow_core::forget_repetition() noexcept {
  repetition_.reset();
}

flow_creator flow_core::creator(const char* call) {
  const frame& at = *self.frame;
  if (!at.is_of(*this)) return creator_outside();
  const auto* const running = at.state == nullptr ? nullptr : at.state->running;
  if (running == nullptr || running->ends) [[unlikely]]
    refuse_beside_body(call);
  auto& state = static_cast<flow_worker&>(*at.state);
  return {&state, static_cast<flow_task*>(running->task), state.pool, state.counts};
}

flow_creator flow_core::creator_outside() noexcept {
  const auto at = detail::this_worker();
  if (at.runtime != &this->runtime()) return {nullptr, nullptr, outside_pool_, outside_counts_};
  auto& state = *states_[at.index];
  return {&state, nullptr, state.pool, state.counts};
}

flow_task& flow_core::allocate(const flow_creator& by, std::size_t members, std::size_t bytes,
                               std::size_t alignment) {
  const auto aligned = [](std::size_t at, std::size_t to) { return (at + to - 1) / to * to; };
  const std::size_t closure = aligned(sizeof(flow_task) + members * sizeof(flow_member), alignment);
  const auto block = flow_pool::kind_for(closure + bytes);
  void* const memory = by.pool.take(closure + bytes, block);
  auto* const made = new (memory) flow_task;
  made->priority = 0;
  made->count = 0;
  made->place = any_worker;
  made->block = block;
  made->room = static_cast<std::uint32_t>(members);
  made->closure = static_cast<std::byte*>(memory) + closure;
  made->parent = by.parent;
  made->round = nullptr;
  return *made;
}

// Flat, as a call costs a nanosecond.
[[gnu::flatten]] begun_task begin_task(flow_core& flow, const flow_body& body,
                                       std::span<const access> accesses, std::size_t bytes,
                                       std::size_t alignment) {
  static constexpr auto call = "teff::flow::task";
  flow.expect_runtime(call);
  // In place: a copy would load words together that were just stored one by one, and wait for that.
  begun_task begun{flow.creator(call), nullptr};
  const bool in_chunk = begun.by.parent != nullptr && begun.by.parent->body->loop != nullptr;
  if (in_chunk || flow_core::replayed == &flow || flow.checker != nullptr || body.loop != nullptr)
      [[unlikely]]
    flow.expect_to_make(in_chunk, body, accesses);
  const bool may_repeat = begun.by.parent == nullptr && flow.repetition() != nullptr;
  if (may_repeat && (begun.task = flow.next_of_memo(begun.by, body, accesses)) != nullptr) return begun;
  begun.task = &flow.allocate(begun.by, accesses.size(), bytes, alignment);
  begun.task->body = &body;
  if (may_repeat) flow.note_made(begun.by, *begun.task, accesses, bytes);
  return begun;
}

void drop_task(flow_core& flow, const begun_task& begun) {
  flow.drop(begun.by, *begun.task);
}

void submit_task(flow_core& flow, const begun_task& begun, std::span<const access> accesses) {
  if (flow.checker != nullptr) [[unlikely]]
    return flow.run_checked(begun.by, *begun.task, accesses);
  flow.submit(begun.by, *begun.task, accesses);
}

void flow_core::drop_reference(flow_task& task, flow_pool& pool) noexcept {
  // Acquire: the work of other threads on the task. Release: the caller's work on it. If the caller has the
  // only reference, no other thread can take it. The read-modify-write is left out then.
  if (task.references.load(std::memory_order_acquire) != 1 &&
      task.references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (task.block == flow_pool::in_memo) {
    task.references.store(0, std::memory_order_release);  // pairs with flow_memo::has_ended()
    return;
  }
  if (task.has_more) {
    task.each_member([](flow_member& each) {
      delete each.weak();
      if (each.leads) delete each.lock();
    });
    while (task.more != nullptr) delete std::exchange(task.more, task.more->more);
  }
  pool.give(&task, task.block);
}

held_end<>* flow_core::hold_end() {
  if (recorded != nullptr) [[unlikely]]
    throw not_replayable(
        "teff::flow: a task that holds its end was recorded, and a replayed task ends with its body: run "
        "this "
        "part without a recording");
  held_end<>* const held = base::hold_end();
  if (watch_ != nullptr && held != nullptr) watch_->hold(static_cast<const flow_task&>(*held->task));
  return held;
}

// ---- Waiting ----

namespace {

// Null, if the flow is not watched. Throws std::system_error.
std::unique_ptr<watchdog> observer_of(const flow_watch* tasks) {
  if (tasks == nullptr) return nullptr;
  return std::make_unique<watchdog>([tasks] { return tasks->state(); });
}

}  // namespace

void flow_core::wait() {
  const auto observes = observer_of(watch_.get());
  base::wait();
}

void flow_core::abandon_if_unfinished() noexcept {
  std::unique_ptr<watchdog> observes;
  // If no thread can be made, this one waits unwatched.
  catch_all([&] { observes = observer_of(watch_.get()); }, [] {});
  base::abandon_if_unfinished();
}

template <class Begin>
void flow_core::wait_within_call(Begin begin, condition done) {
  const auto observes = observer_of(watch_.get());
  std::optional<call_in_progress> call;
  if (detail::this_worker().runtime != &this->runtime()) call.emplace(this->runtime());
  begin();
  wait_for_tasks_.wait_until(done, *this);
}

// A task with the accesses says when it begins, and when it is dropped.
void flow_core::wait_for(std::span<const access> accesses) {
  static constexpr auto call = "teff::flow::wait";
  struct closure {
    flow_core& flow;
    std::atomic<bool>& begun;
  };
  static constexpr flow_body tells{[](flow_task&) {},
                                   [](flow_task& task) noexcept {
                                     const auto& it = *static_cast<const closure*>(task.closure);
                                     it.begun.store(
                                         true, std::memory_order_seq_cst);  // before the look for waiters
                                     it.flow.wake_helpers();
                                   },
                                   nullptr, []() noexcept { return call; }};
  if (recorded != nullptr) [[unlikely]]
    throw not_replayable(std::string(call) +
                         ": called for some accesses while the flow is recorded: a replay has tasks only; "
                         "wait after record() has returned");
  std::optional<blocked_activities> blocked;
  if (is_within()) {
    expect_inner_end(call);  // the tasks that it waits for are inner ones
  } else {
    blocked.emplace(static_cast<const source*>(this));
    if (blocked->for_ever()) refuse_to_wait_for_ever("teff::flow::wait: called");
  }
  std::atomic<bool> begun{false};
  const auto make_task = [&] {
    const auto made = begin_task(*this, tells, accesses, sizeof(closure), alignof(closure));
    ::new (made.task->closure) closure{*this, begun};
    submit_task(*this, made, accesses);
    if (checker != nullptr && !is_within()) checker->forget(accesses);  // the program may free it
  };
  wait_within_call(make_task, [&begun] { return begun.load(); });
}

void flow_core::expect_inner_end(const char* call) {
  if (checker != nullptr && checker->is_within_loop()) refuse_in_chunk(call);
  if (replayed == this || checker != nullptr) return;
  flow_task& task = *creator(call).parent;
  bool any_weak = false;
  task.each_member([&](const flow_member& each) { any_weak = any_weak || each.weak() != nullptr; });
  if (task.body->loop != nullptr) refuse_in_chunk(call);
  if (!any_weak) return;
  throw misuse(
      std::string(call) +
      ": called in a task with a weak access, whose inner tasks may wait for tasks that this thread "
      "could not run: let the task end, which waits for the tasks made in it, and do the rest in a task "
      "that follows");
}

void flow_core::wait_for_inner(const char* call) {
  expect_inner_end(call);
  if (replayed == this || checker != nullptr) return;  // no task is left
  flow_task& task = *creator(call).parent;
  const auto ended = [&task] {
    // seq_cst: after this thread has become one that wake_helpers() finds. Acquire: all that the tasks did.
    return task.parts.load(std::memory_order_seq_cst) == parts_before::end;
  };
  if (task.awaited != 0) {
    // Relaxed: before the count is closed.
    task.parts.store(parts_before::body, std::memory_order_relaxed);
    if (!task.unended.close(task.awaited)) {
      while (!ended() && run_here(*this)) {
      }
      wait_within_call([] {}, ended);
    }
    task.parts.store(parts_before::end, std::memory_order_relaxed);
    task.unended.open_again();
    task.awaited = 0;
  }
  if (this->cancelled())
    if (auto error = this->failure()) std::rethrow_exception(std::move(error));
}

// ---- Running ----

// The task takes the locks of its commutative accesses in the order of their addresses. Then it is ready.
void flow_core::can_begin(const flow_creator& by, flow_task& task) noexcept {
  while (task.has_locks) {
    flow_member* next = nullptr;
    const std::less<const void*> before;
    task.each_member([&](flow_member& each) {
      if (each.lock() != nullptr && (task.last_lock == nullptr || before(task.last_lock, each.lock())) &&
          (next == nullptr || before(each.lock(), next->lock())))
        next = &each;
    });
    if (next == nullptr) break;
    if (!next->lock()->take(*next)) return;
    task.last_lock = next->lock();
  }
  catch_all([&] { make_task_ready(by, task); }, [this] { this->fail(std::current_exception()); });
}

void flow_core::make_task_ready(const flow_creator& by, flow_task& task) {
  const unsigned place = task.place == any_worker ? any_worker : task.place % this->workers();
  if (by.on == nullptr) {
    const call_in_progress call(this->runtime());
    this->begin_outside();
    this->give(task, place);
  } else if (by.on->index == place) {
    this->begin_own_item(*by.on);
    by.on->ready.push_own(&task);
  } else if (place != any_worker) {
    this->account(by.on->index).begin_one();
    this->give(task, place);
  } else if (by.ends) {
    this->make_ready(*by.on, &task);
  } else {
    this->share(*by.on, &task);
  }
}

void flow_core::run_body(flow_worker& caller, runnable& node) {
  auto& task = static_cast<flow_task&>(node);
  struct watched_body {
    flow_watch* watch;
    const flow_task& task;
    void go_to(flow_watch::step step, unsigned worker) const noexcept {
      if (watch != nullptr) [[unlikely]]
        watch->go_to(task, step, worker);
    }
    ~watched_body() { go_to(flow_watch::step::returned, 0); }
  } const watched{watch_.get(), task};
  watched.go_to(flow_watch::step::runs, caller.index);
  if (task.body->loop != nullptr) [[unlikely]]
    return run_loop(caller, task);
  note_run(caller, task);
  task.body->run(task);
  count_ran(caller, task);
}

std::uint64_t flow_core::outstanding() const noexcept {
  std::uint64_t ran = outside_counts_.ran.load(std::memory_order_relaxed);
  std::uint64_t made = outside_counts_.made.load(std::memory_order_relaxed);
  for (const auto& each : states_.all()) {
    ran += each.counts.ran.load(std::memory_order_relaxed);
    made += each.counts.made.load(std::memory_order_relaxed);
  }
  return made > ran ? made - ran : 0;
}

void flow_core::count_ran(flow_worker& caller, flow_task& task) noexcept {
  task.counted = true;
  flow_counts::raise(caller.counts.ran);
  this->runtime().fences().light();  // pairs with make_room(): one of the threads sees the other
  if (want_room_.load(std::memory_order_relaxed) != 0 && has_room()) [[unlikely]]
    wake_helpers();
}

std::string flow_core::running_task_on(unsigned worker) const {
  const auto* const running = states_[worker]->running;
  if (running == nullptr) return {};
  auto& task = static_cast<flow_task&>(*running->task);
  std::string text = name_in_words(task.body->name());
  task.each_member([&, first = true](flow_member& each) mutable {
    text += first ? " of " : ", ";
    first = false;
    text += mode_in_words(each.mode);
  });
  return text;
}

// ---- Room ----

// The worker has found nothing to do. If the others haven't either, a creator that is held back goes on.
void flow_core::look_for_rest(unsigned worker) noexcept {
  base::look_for_rest(worker);
  // seq_cst: after what it says has ended, against make_room().
  if (want_room_.load(std::memory_order_seq_cst) != 0 && this->waits_for_held_ends()) [[unlikely]]
    wake_helpers();
}

// If too many tasks are outstanding, the creator runs some, or waits. It goes on if all of them wait for
// events: these may depend on tasks that it is about to make.
void flow_core::make_room(const flow_creator& by) {
  if (by.parent != nullptr) {
    by.on->crowded = outstanding() > most_outstanding;
    return;
  }
  if (outstanding() <= most_outstanding) return;
  if (by.on != nullptr) {
    while (!has_room() && run_here(*this)) {
    }
    this->step_back(by.on->index);
  }
  if (has_room()) return;
  const blocked_activities blocked(*this, wait_for_tasks_);
  want_room_.fetch_add(1, std::memory_order_seq_cst);  // against look_for_rest()
  bool looked = false;
  const auto has_room_now = [&] {
    // By now this thread is one that wake_helpers() finds. Pairs with count_ran().
    const bool first = !std::exchange(looked, true);
    if (first) this->runtime().fences().everywhere();
    if (has_room() || blocked.is_given_up()) return true;
    return !(first && by.on != nullptr) && this->waits_for_held_ends();  // a worker tests the events before
  };
  undo_if_thrown([&] { wait_within_call([] {}, has_room_now); },
                 [this] { want_room_.fetch_sub(1, std::memory_order_relaxed); });
  want_room_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace teff::detail
