#include "worker.hpp"

#include <teff/detail/fulfil_listener.hpp>
#include <teff/detail/gang.hpp>
#include <teff/detail/scope_state.hpp>

#include "scheduler.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace teff::detail {

constinit thread_local lane self;

namespace {

constinit thread_local worker* this_worker = nullptr;

constexpr std::size_t scope_slots = std::size_t{1} << 20;
// A join's frame on the stack is at least this large, so that the stack overflows before the deque does.
constexpr std::size_t least_frame = 64;

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// ---- What the headers call ----

bool share() noexcept {
  if (self.asked_to_share() && self.share()) this_worker->published();
  if (self.ring == nullptr) return false;
  record_spawn(*self.ring);
  return true;
}

bool calling_worker::take_back(task_slot* slot) noexcept {
  if (!self.retake(slot)) return false;
  answer_request();
  return true;
}

void calling_worker::answer_request() noexcept {
  if (!self.asked_to_share()) return;
  if (self.share()) {
    this_worker->published();
  } else if (self.has_public()) {
    self.withdraw();
  }
}

bool settle(task_slot* slot) noexcept {
  if (calling_worker::take_back(slot)) return true;
  this_worker->wait_for_thief(*slot);
  return false;
}

void reclaim(task_slot* slot) noexcept {
  slot->state.store(slot_state::idle, std::memory_order_relaxed);
  self.reclaim(slot);
}

void wake_owner(const task_slot* slot) noexcept {
  this_worker->wake_owner(slot);
}

void calling_worker::ended_on_thief(scope_state& scope) noexcept {
  this_worker->ended(scope);
}

void calling_worker::wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept {
  this_worker->wait_for_tasks(pending);
}

void calling_worker::yield() noexcept {
  std::this_thread::yield();
}

place here() noexcept {
  if (this_worker == nullptr) return {};
  return {&this_worker->all(), this_worker->index()};
}

void record_spawn(trace_ring& ring) noexcept {
  trace_ring::count(ring.spawned);
}

void record(trace_ring& ring, activity what, const char* name, std::uint64_t began) noexcept {
  ring.add({.began = began, .ended = ticks::now(), .name = name, .other = 0, .what = what});
}

std::uint64_t ticks_now() noexcept {
  return ticks::now();
}

void help_until(bool (*done)(const void*), const void* what) noexcept {
  worker::help_until(done, what);
}

void block_until(bool (*done)(const void*), const void* what) noexcept {
  worker::block_until(done, what);
}

// ---- The thread ----

worker::worker(scheduler& all, unsigned index, std::size_t stack_size, trace_ring* ring)
    : all_(all),
      index_(index),
      slots_(scope_slots, stack_size / least_frame),
      random_(0x9e3779b97f4a7c15U * (index + 1)),
      ring_(ring) {}

void worker::start(std::size_t stack_size) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int failed = pthread_attr_setstacksize(&attributes, stack_size);
  if (failed == 0) failed = pthread_create(&thread_, &attributes, &thread_main, this);
  pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "libteff: starting a worker");
}

void worker::join() noexcept {
  pthread_join(thread_, nullptr);
}

void* worker::thread_main(void* self) noexcept {
  static_cast<worker*>(self)->main();
  return nullptr;
}

void worker::main() noexcept {
  this_worker = this;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  stack_middle_ = reinterpret_cast<const std::byte*>(here - all_.settings().stack_size / 2);
  self.open(slots_.begin(), ring_ != nullptr);
  self.ring = ring_;
  self.scope_limit = slots_.scope_limit();
  // Its layout is laid down by the ABI (2.2.2): a pointer, then the count.
  self.exceptions = reinterpret_cast<const unsigned*>(
      reinterpret_cast<const std::byte*>(abi::__cxa_get_globals()) + sizeof(void*));
  deque_ = &self;
  all_.arrive(index_);
  work_until([this] { return all_.stopping(); }, nullptr);
  all_.leave();
}

worker* worker::current() noexcept {
  return this_worker;
}

counters worker::counted() const noexcept {
  const auto read = [](const tally& counter) { return counter.value.load(std::memory_order_relaxed); };
  const auto now = ticks::now();
  const auto idle = idle_.read(now);
  const auto parked = std::min(parked_.read(now), idle);
  const auto time = [scale = all_.scale().nanoseconds_per_tick()](std::uint64_t ticks) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(ticks) * scale));
  };
  return {.jobs = read(jobs_),
          .steals = read(steals_),
          .failed_steals = read(failed_steals_),
          .seizures = read(seizures_),
          .shares = read(shares_),
          .parks = read(parks_),
          .wakes = read(wakes_),
          .searching = time(idle - parked),
          .parked = time(parked),
          .spawned = ring_ == nullptr ? 0 : ring_->spawned.load(std::memory_order_relaxed),
          .tasks = ring_ == nullptr ? 0 : ring_->tasks.load(std::memory_order_relaxed)};
}

std::uint64_t worker::stopwatch::read(std::uint64_t now) const noexcept {
  const auto before = total.value.load(std::memory_order_relaxed);
  const auto began = since.load(std::memory_order_relaxed);
  return before + (began == 0 || began > now ? 0 : now - began);
}

// ---- Waiting ----

void worker::wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept {
  const traced_span span(activity::waiting, nullptr);
  // seq_cst: the last look before sleeping, against complete(); acquire: what the tasks did.
  work_until([&pending] { return pending.load(std::memory_order_seq_cst) == 0; }, nullptr);
}

void worker::help_until(bool (*done)(const void*), const void* what) noexcept {
  this_worker->work_until([=] { return done(what); }, nullptr);
}

void worker::wait_for_thief(task_slot& slot) noexcept {
  const traced_span span(activity::waiting, nullptr);
  // seq_cst: the last look before sleeping, against run_stolen(); acquire: the result.
  work_until(
      [&slot] {
        const auto state = slot.state.load(std::memory_order_seq_cst);
        return state == slot_state::ended || state == slot_state::failed;
      },
      &slot);
}

// In the census it is never a searcher, who would be expected to find what others publish, but for the moment
// between getting up and sitting down.
void worker::block_until(bool (*done)(const void*), const void* what) noexcept {
  auto& me = *this_worker;
  auto& gate = me.all_.gate();
  me.stolen_.tell();
  for (;;) {
    me.spin_until(done, what);
    if (done(what)) return;
    gate.start_search();
    if (gate.sit_down(me.index_, false)) me.hand_over();
    // From here on, whoever makes it true sees the seat, or is seen by this look.
    me.all_.fences().everywhere();
    if (done(what)) {
      gate.get_up(me.index_, false);
    } else {
      me.sleep();
    }
    if (gate.stop_search()) me.hand_over();
  }
}

// Gives up after the time that a worker looks for work before it parks.
void worker::spin_until(bool (*done)(const void*), const void* what) noexcept {
  constexpr unsigned looks_between_clock_readings = 64;
  auto deadline = std::chrono::steady_clock::time_point::max();
  for (unsigned look = 1; !done(what); ++look) {
    relax();
    if (look % looks_between_clock_readings != 0) continue;
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return;
    if (look == looks_between_clock_readings) deadline = now + all_.settings().spin;
    if (all_.crowded()) std::this_thread::yield();
  }
}

// The loop of a worker that has nothing of its own to do until `done()`: it runs other workers' tasks, else
// it spins for a while, else it sleeps. `awaited` is the stolen slot it waits for, if it waits for one: its
// thief is asked first (leapfrogging), and is the only one asked when the stack is half used.
template <class Done>
void worker::work_until(Done done, const task_slot* awaited) noexcept {
  const bool open = has_room_for_foreign_tasks();
  bool searching = false;
  constexpr unsigned looks_between_clock_readings = 16;
  constexpr unsigned looks_between_seizures = 128;
  constexpr unsigned looks_before_search = 8;
  unsigned fruitless = 0;
  auto deadline = std::chrono::steady_clock::time_point::max();
  for (unsigned look = 0; !done(); ++look) {
    if (run_something(open, awaited, searching)) {
      deadline = std::chrono::steady_clock::time_point::max();
      fruitless = 0;
      continue;
    }
    stolen_.tell();
    if (!searching) {
      // A source's next work may come from another core within a cache line's way, again and again: as long
      // as that, the census, which all share, is left alone.
      if (!sources_.empty() && ++fruitless < looks_before_search) {
        relax();
        continue;
      }
      start_search(searching);
      look = 0;
    }
    if (look % looks_between_clock_readings != 0) {
      relax();
      continue;
    }
    ask_everyone();
    const auto now = std::chrono::steady_clock::now();
    if (look == 0) {
      deadline = now + all_.settings().spin;
    } else if (now >= deadline) {
      park(done, open, awaited);
      look = 0;
      deadline = std::chrono::steady_clock::now() + all_.settings().spin;
    } else if (open && look % looks_between_seizures == 0) {
      seize_from_anyone();
    } else if (all_.crowded()) {
      std::this_thread::yield();
    }
  }
  stolen_.tell();
  stop_search(searching);
}

template <class Done>
void worker::park(Done& done, bool open, const task_slot* awaited) noexcept {
  auto& gate = all_.gate();
  if (gate.sit_down(index_, open)) hand_over();
  // Whoever pushes from now on shares at once; what was shared before is seen by this last look.
  if (open) ask_everyone();
  // From here on, whoever brings a source something sees the seat, or is seen by the last look.
  refresh_sources();
  if (open && !sources_.empty()) all_.fences().everywhere();
  const auto* const thief = open ? nullptr : thief_of(awaited);
  if (done() ||
      (open ? sees_work() || seize_from_anyone() : thief != nullptr && thief->deque().has_public())) {
    gate.get_up(index_, open);
  } else {
    sleep();
  }
}

void worker::sleep() noexcept {
  ++parks_;
  parked_.start();
  all_.gate().sleep(index_);
  const auto began = parked_.stop();
  if (ring_ != nullptr) record(*ring_, activity::parked, nullptr, began);
}

bool worker::sees_work() noexcept {
  if (!all_.jobs().empty() || !inbox_.empty()) return true;
  refresh_sources();
  for (const auto& each : sources_) {
    if (each->sees_work(index_)) return true;
  }
  for (const auto* const other : victims) {
    if (other->deque().has_public()) return true;
  }
  return false;
}

// Whether another worker has public work, or has been made to have some.
bool worker::seize_from_anyone() noexcept {
  for (auto* const other : victims) {
    if (!all_.fences().available()) break;
    ++seizures_;
    if (other->deque().seize([this] { all_.fences().everywhere(); })) {
      record_instant(activity::seizure);
      return true;
    }
  }
  return false;
}

void worker::ask_everyone() noexcept {
  for (auto* const other : victims) other->deque().ask();
}

void worker::start_search(bool& searching) noexcept {
  all_.gate().start_search();
  searching = true;
  idle_.start();
}

void worker::stop_search(bool& searching) noexcept {
  if (!searching) return;
  searching = false;
  const auto began = idle_.stop();
  if (ring_ != nullptr) record(*ring_, activity::searching, nullptr, began);
  if (all_.gate().stop_search()) hand_over();
}

// Nobody searches any more, and others sleep: what becomes public from now on wakes one of them, what has
// become public before is looked for here.
void worker::hand_over() noexcept {
  ask_everyone();
  if (sees_work() && all_.gate().wake_any(index_ + 1)) woke_one();
}

void worker::published() noexcept {
  ++shares_;
  if (all_.gate().notify_work(index_ + 1)) woke_one();
}

void worker::woke_one() noexcept {
  ++wakes_;
  record_instant(activity::wake);
}

void worker::record_instant(activity what, const worker* other) noexcept {
  if (ring_ == nullptr) return;
  const auto now = ticks::now();
  ring_->add({.began = now,
              .ended = now,
              .name = nullptr,
              .other = other == nullptr ? 0 : other->index_,
              .what = what});
}

void worker::wake_owner(const task_slot* slot) noexcept {
  const auto* owner = last_victim_;
  if (owner == nullptr || !owner->slots_.owns(slot)) {
    if (slots_.owns(slot)) return;
    for (const auto* const other : victims) {
      if (other->slots_.owns(slot)) owner = other;
    }
  }
  if (owner != nullptr && all_.gate().wake(owner->index_)) woke_one();
}

// ---- Finding something to do ----

bool worker::has_room_for_foreign_tasks() const noexcept {
  return static_cast<const std::byte*>(__builtin_frame_address(0)) > stack_middle_;
}

worker* worker::thief_of(const task_slot* awaited) const noexcept {
  if (awaited == nullptr) return nullptr;
  const auto state = awaited->state.load(std::memory_order_relaxed);
  return state < slot_state::first_thief ? nullptr : all_.workers()[state - slot_state::first_thief].get();
}

void worker::refresh_sources() noexcept {
  const auto version = all_.sources().version();
  if (version == sources_version_) return;
  sources_ = all_.sources().list();
  sources_version_ = version;
}

// What they run may look here again, and find other sources.
bool worker::run_sources(bool& searching) noexcept {
  refresh_sources();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    auto& each = *sources_[i];
    if (searching) {
      if (!each.sees_work(index_)) continue;
      stop_search(searching);
    }
    stolen_.tell();
    auto* const outer = std::exchange(self.innermost, nullptr);
    const auto outer_listening = std::exchange(listening, {});
    const bool did_something = each.run(index_);
    listening = outer_listening;
    self.innermost = outer;
    if (did_something) return true;
  }
  return false;
}

bool worker::run_something(bool open, const task_slot* awaited, bool& searching) noexcept {
  if (open && run_sources(searching)) return true;
  worker* victim = thief_of(awaited);
  task_slot* slot = victim == nullptr ? nullptr : steal_from(*victim);
  if (slot == nullptr && open) {
    for (auto* const queue : {&inbox_, &all_.jobs()}) {
      if (auto* const job = queue->pop()) {
        stop_search(searching);
        run_job(*job);
        return true;
      }
    }
    if (victims.empty()) return false;
    // From a random one on, so that thieves spread.
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const auto count = victims.size();
    for (std::size_t i = 0, at = random_ % count; slot == nullptr && i < count;
         ++i, at = at + 1 == count ? 0 : at + 1) {
      victim = victims[at];
      slot = steal_from(*victim);
    }
  }
  if (slot == nullptr) return false;
  stop_search(searching);
  record_instant(activity::steal, victim);
  run_stolen(*victim, *slot);
  return true;
}

task_slot* worker::steal_from(worker& victim) noexcept {
  auto* const slot = victim.deque().steal();
  if (slot == nullptr) {
    ++failed_steals_;
  } else {
    ++steals_;
  }
  return slot;
}

// What it spawned may be run here after it, and is not to be listened to either.
void worker::run_stolen(worker& victim, task_slot& slot) noexcept {
  // Relaxed: only a hint, where the owner looks for work while it waits.
  slot.state.store(slot_state::first_thief + index_, std::memory_order_relaxed);
  last_victim_ = &victim;
  const auto outer = std::exchange(listening, {});
  stolen_.run(slot);
  listening = outer;
}

void worker::run_job(job& job) noexcept {
  ++jobs_;
  stolen_.tell();
  auto* const outer = std::exchange(self.innermost, nullptr);
  const auto outer_listening = std::exchange(listening, {});
  job.run(job);
  listening = outer_listening;
  self.innermost = outer;
}

}  // namespace teff::detail
