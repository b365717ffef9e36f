#include "scheduler/scheduler.hpp"
#include <teff/detail/platform/processor_clock.hpp>
#include <teff/detail/scheduler/gang.hpp>
#include <teff/detail/scheduler/requests.hpp>

#include "scheduler/blocked_activities.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/runtime_registry.hpp"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <system_error>
#include <utility>

namespace teff::detail {

namespace {

std::atomic<std::uint64_t> next_number{1};

[[noreturn]] void refuse_workers(const std::system_error& why, const runtime_options& wanted) {
  const auto bytes = worker_deque::bytes(wanted.stack_size) + wanted.stack_size;
  throw std::system_error(
      why.code(),
      "libteff: " + std::to_string(wanted.workers) + " workers, which reserve " +
          std::to_string(bytes >> 20) + " MiB of address space each; smaller stacks (TEFF_STACK_SIZE, " +
          std::to_string(wanted.stack_size) +
          " bytes now), fewer workers (TEFF_WORKERS) or a higher limit (`ulimit -v`) make them fit");
}

// About as long as oneTBB's workers do.
constexpr std::chrono::milliseconds most_spin_by_default{1};

}  // namespace

scheduler::scheduler(const runtime_options& given)
    : number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      settings_(complete(given, machine_.usable_cores())),
      crowded_(settings_.workers > machine_.usable_cores()),
      longest_spin_(crowded_ || says_how_long_to_spin(given) ? settings_.spin : most_spin_by_default),
      gate_(settings_.workers),
      requests_(settings_.workers, gate_, settings_.spare_threads, machine_),
      sources_(settings_.workers),
      arrived_(settings_.workers),
      departed_(settings_.workers) {
  const auto count = settings_.workers;
  if (!settings_.trace.empty()) {
    const char* const named_by = given.trace.empty() ? "TEFF_TRACE" : "teff::runtime_options::trace";
    trace_.emplace(settings_.trace, named_by, count, settings_.trace_events);
  }
  for (unsigned i = 0; i < count; ++i) {
    auto* const ring = trace_ ? &trace_->ring(i) : nullptr;
    try {
      workers_.push_back(std::make_unique<worker>(*this, i, settings_.stack_size, ring));
    } catch (const std::system_error& why) {
      refuse_workers(why, settings_);
    }
  }
  if (settings_.bind && count <= machine_.processors().size()) bound_.emplace(machine_.processors(), count);
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned other = 1; other < count; ++other)
      workers_[i]->victims.push_back(workers_[(i + other) % count].get());
  }
  if (bound_) by_processor_.resize(*std::ranges::max_element(machine_.processors()) + std::size_t{1});
  for (unsigned i = 0; bound_ && i < count; ++i) by_processor_[(*bound_)[i]] = workers_[i].get();
  for (std::size_t started = 0; started < count; ++started) {
    try {
      workers_[started]->start(settings_.stack_size);
    } catch (const std::system_error& why) {
      stop_workers(started);
      refuse_workers(why, settings_);
    }
  }
  arrived_.wait();
  try {
    process_wide<runtimes>::with([this](runtimes& here) { here.all.push_back(this); });
  } catch (...) {
    stop_workers(count);
    throw;
  }
}

scheduler::~scheduler() {
  shut_down();
  process_wide<runtimes>::with([this](runtimes& here) { std::erase(here.all, this); });
  lives_->store(false, std::memory_order_relaxed);
}

// Workers that were never started are counted as having arrived and left.
void scheduler::stop_workers(std::size_t started) noexcept {
  stop_.store(true, std::memory_order_seq_cst);
  const auto missing = static_cast<std::ptrdiff_t>(workers_.size() - started);
  arrived_.count_down(missing);
  departed_.count_down(missing);
  for (std::size_t i = 0; i < started; ++i) gate_.wake(static_cast<unsigned>(i));
  for (std::size_t i = 0; i < started; ++i) workers_[i]->join();
}

void scheduler::arrive(unsigned index) noexcept {
  if (bound_) {
    machine_.free_this_thread();
    topology::move_thread(0, (*bound_)[index]);
  }
  arrived_.arrive_and_wait();
}

// A move narrows the thread's mask for a moment. A second move of the thread would take the narrow mask for
// the thread's own.
void scheduler::move_to_processor_of(unsigned index, pid_t thread) noexcept {
  if (!bound_ || moving_.test_and_set(std::memory_order_acquire)) return;
  topology::move_thread(thread, (*bound_)[index]);
  moving_.clear(std::memory_order_release);
}

void scheduler::run_in_call(awaited_job& job) {
  const blocked_activities blocked(&job);
  named_job named(job);
  auto& call = named.unless_plain(blocked);
  const auto at = this_worker();
  job.ended.begin_here();
  if (at.runtime == nullptr && run_as_guest(*this, call)) return;
  job.ended.begin(at);
  submit(*this, call);
  job.ended.wait();
}

worker* scheduler::worker_of_this_processor() const noexcept {
  if (by_processor_.empty()) return nullptr;
  const auto processor = static_cast<std::size_t>(::sched_getcpu());
  return processor < by_processor_.size() ? by_processor_[processor] : nullptr;
}

// A call that runs during a shutdown may begin others; when no call runs any more, none may begin.
bool scheduler::begin_call_unless_shut_down() {
  expect_own_process(*this);
  // Acquire: a caller that is refused sees the steps before the shutdown.
  auto now = calls_.load(std::memory_order_acquire);
  do {
    if (now == shut_down_flag) return false;
  } while (!calls_.compare_exchange_weak(now, now + one_call, std::memory_order_acquire));
  return true;
}

// The scheduler may be gone when this returns.
void scheduler::end_call() noexcept {
  if (is_of_parent()) return;
  // Release: pairs with the acquire in wait_for_calls().
  const auto before = calls_.fetch_sub(one_call, std::memory_order_release);
  if (before == (one_call | shut_down_flag)) futex::wake(calls_, INT_MAX);  // takes its address only
}

void scheduler::wait_for_calls() noexcept {
  for (;;) {
    const auto now = calls_.load(std::memory_order_acquire);  // pairs with the release in end_call()
    if (now < one_call) return;
    futex::wait(calls_, now);
  }
}

void scheduler::shut_down() {
  expect_own_process(*this);
  if (works_for(*this)) {
    throw misuse(
        "teff::runtime::shutdown: called by one of the runtime's own workers, which it would wait for");
  }
  const auto before = calls_.fetch_or(shut_down_flag, std::memory_order_relaxed);
  wait_for_calls();
  if ((before & shut_down_flag) == 0) end_workers();
}

void scheduler::shut_down_at_exit() noexcept {
  if (is_of_parent()) return;
  const auto* const caller = worker::current();
  std::uint32_t none = 0;
  if ((caller == nullptr || &caller->all() != this) &&
      calls_.compare_exchange_strong(none, shut_down_flag, std::memory_order_acq_rel)) {
    end_workers();
  }
}

void scheduler::end_workers() noexcept {
  stop_workers(workers_.size());
  requests_.stop();
  bound_.reset();
  if (trace_) trace_->write(scale_);
}

bool scheduler::wake_another() noexcept {
  const auto* const nearest = worker_of_this_processor();
  return gate_.wake_any(nearest == nullptr ? 0 : nearest->index());
}

bool scheduler::exposure_is_due() noexcept {
  constexpr std::int64_t nanoseconds_each = 2000;
  const auto now = processor_clock::now();
  auto next = next_exposure_.load(std::memory_order_relaxed);
  const auto later = now + processor_clock::in(nanoseconds_each * static_cast<std::int64_t>(workers_.size()));
  return now >= next && next_exposure_.compare_exchange_strong(next, later, std::memory_order_relaxed);
}

counters scheduler::counted() const noexcept {
  counters sum;
  for (const auto& each : workers_) sum += each->counted();
  return sum;
}

void submit(scheduler& runtime, job& job) noexcept {
  auto& requests = runtime.requests();
  requests.calls().push(job);
  if (!runtime.gate().needs_a_wake() || !runtime.wake_another()) runtime.count_on_searcher();
  // No worker may begin it.
  if (runtime.gate().everybody_is_limited()) requests.lend();
}
void submit_request(scheduler& runtime, job& job) noexcept {
  if (runtime.is_of_parent()) return;  // no thread is there that would run it
  auto& requests = runtime.requests();
  requests.queue().push(job);
  // A sleeper is woken, or a worker searches, or all are busy. Which of the last two, the counters can't
  // tell: some search only for what they may run.
  if (runtime.gate().needs_a_wake() && runtime.wake_another()) return;
  for (const auto& each : runtime.workers()) each->deque().ask_from_outside();
  if (runtime.gate().anybody_is_limited()) requests.lend();  // a worker sleeps that may not run it
}
void submit_to(scheduler& runtime, unsigned index, job& job) noexcept {
  runtime.workers()[index]->inbox().push(job);
  runtime.gate().wake(index);
}

void submit(scheduler& runtime, gang& added) noexcept {
  if (runtime.gangs().push(added)) added.run(added);
}
void end_gang(scheduler& runtime) noexcept {
  if (auto* const next = runtime.gangs().pop_and_see_next()) next->run(*next);
}

void attach(scheduler& runtime, std::shared_ptr<source> added) {
  expect_own_process(runtime);
  runtime.sources().add(std::move(added));
}
void detach(scheduler& runtime, const source& removed) noexcept {
  if (!runtime.is_of_parent()) runtime.sources().remove(removed);
}
void published(scheduler& runtime) noexcept {
  auto& gate = runtime.gate();
  runtime.fences().light();
  if (!gate.needs_a_wake(&asymmetric_fence::own_core) || !runtime.wake_another()) runtime.count_on_searcher();
  gate.notify_of_source();
}
void published_to(scheduler& runtime, unsigned index) noexcept {
  runtime.fences().light();
  runtime.gate().wake(index);
}

runtime_life life_of(const scheduler& runtime) noexcept {
  return runtime.life();
}

void expect_own_process(const scheduler& runtime) {
  if (runtime.is_of_parent()) throw forked_process();
}

void end_if_child(const scheduler& runtime) noexcept {
  if (runtime.is_of_parent()) end_child_process();
}

void begin_call(scheduler& runtime) {
  if (!runtime.begin_call_unless_shut_down()) throw runtime_was_shut_down();
}
void begin_call_if_alive(scheduler& runtime) {
  process_wide<runtimes>::with([&](runtimes& here) {
    if (std::ranges::find(here.all, &runtime) == here.all.end()) throw runtime_was_shut_down();
    begin_call(runtime);
  });
}
void end_call(scheduler& runtime) noexcept {
  runtime.end_call();
}

void run_and_wait(scheduler& runtime, awaited_job& job) {
  const call_in_progress call(runtime);
  runtime.run_in_call(job);
}

}  // namespace teff::detail
